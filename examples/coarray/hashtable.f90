! SPDX-License-Identifier: BSD-3-Clause
! hashtable.f90 - a hash table that is spread over all images, and into which all of them count at
! the same time without a lock: an image claims an empty slot anywhere by compare-and-swap, and adds
! to its counter by an atomic addition.
!
!   caf-armci -O2 hashtable.f90 -o hashtable && armcirun -n 4 ./hashtable
program hashtable
  use, intrinsic :: iso_fortran_env, only: atomic_int_kind
  implicit none
  integer, parameter :: slots = 256, keys = 100, draws = 2000
  integer(atomic_int_kind) :: key(slots)[*], counter(slots)[*], entries[*]
  integer :: expected(keys), i, image, draw

  key = 0
  counter = 0
  entries = 0
  sync all
  draw = this_image()
  do i = 1, draws
    call count_key(next_key(draw))
  end do
  sync all

  if (this_image() == 1) then
    expected = 0
    do image = 1, num_images()
      draw = image
      do i = 1, draws
        associate (k => next_key(draw))
          expected(k) = expected(k) + 1
        end associate
      end do
    end do
    do i = 1, keys
      if (count_of(i) /= expected(i)) error stop 'a counter is wrong'
    end do
    if (count_of(keys + 1) /= 0) error stop 'a key that nobody has counted'
    if (entries /= count(expected > 0)) error stop 'a key has two slots'
    print '(3(a,i0),a)', 'ok hashtable: ', num_images()*draws, ' words, ', count(expected > 0), &
      ' different, on ', num_images(), ' images'
  end if
contains
  ! Some keys are drawn often, others seldom.
  integer function next_key(state)
    integer, intent(inout) :: state
    state = mod(state*137 + 187, 8192)
    next_key = 1 + mod(state*state/8192, keys)
  end function next_key

  ! Where a key is looked for first: the image, and the slot there.
  subroutine place(k, image, slot)
    integer, intent(in) :: k
    integer, intent(out) :: image, slot
    image = 1 + mod(k*31, num_images())
    slot = 1 + mod(k*97, slots)
  end subroutine place

  subroutine count_key(k)
    integer, intent(in) :: k
    integer :: image, slot, tries
    integer(atomic_int_kind) :: old
    call place(k, image, slot)
    do tries = 1, slots
      call atomic_cas(key(slot)[image], old, 0, k)
      if (old == 0) call atomic_add(entries[1], 1)
      if (old == 0 .or. old == k) then
        call atomic_add(counter(slot)[image], 1)
        return
      end if
      slot = 1 + mod(slot, slots) ! taken by another key
    end do
    error stop 'the table is full'
  end subroutine count_key

  integer function count_of(k)
    integer, intent(in) :: k
    integer :: image, slot, tries
    integer(atomic_int_kind) :: found
    count_of = 0
    call place(k, image, slot)
    do tries = 1, slots
      call atomic_ref(found, key(slot)[image])
      if (found == 0) return
      if (found == k) then
        call atomic_ref(count_of, counter(slot)[image])
        return
      end if
      slot = 1 + mod(slot, slots)
    end do
  end function count_of
end program hashtable
