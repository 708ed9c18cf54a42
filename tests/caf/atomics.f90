! SPDX-License-Identifier: BSD-3-Clause
! Atomic subroutines: what each returns and leaves, and exact results when all images use one
! variable at once.
program atomics
  use iso_fortran_env
  implicit none
  integer, parameter :: k = atomic_int_kind, rounds = 500
  type pair
    integer :: pad = 7
    integer(k) :: word = 0
  end type
  integer(k) :: word[*], many(16)[*], old
  logical(atomic_logical_kind) :: flag[*], was
  type(pair) :: pairs(3)[*]
  integer(k), allocatable :: dynamic(:,:)[:]
  integer :: me, n, next

  me = this_image()
  n = num_images()
  next = merge(1, me + 1, me == n)
  allocate(dynamic(2, 3)[*], source=0_k)
  call atomic_define(word, int(me, k))
  call atomic_define(flag, .false.)
  many = 0
  sync all

  call each
  call logicals
  call places
  call mistakes
  sync all
  call sums
  call bits
  call tickets
  call race
  if (me == 1) print '(a)', 'ok atomics'
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    write (error_unit, '(a,i0,2a)') 'image ', me, ': wrong: ', what
    error stop 1
  end subroutine

  ! Each operation, by one image alone, at the next image.
  subroutine each
    integer :: stat
    call atomic_ref(old, word[next], stat)
    call check(old == next .and. stat == 0, 'define and ref')
    call atomic_define(word[next], 12_k, stat)
    call atomic_add(word[next], 30_k)
    call atomic_ref(old, word[next])
    call check(old == 42 .and. stat == 0, 'add')
    call atomic_and(word[next], 15_k, stat)
    call atomic_ref(old, word[next])
    call check(old == 10 .and. stat == 0, 'and')
    call atomic_or(word[next], 5_k)
    call atomic_ref(old, word[next])
    call check(old == 15, 'or')
    call atomic_xor(word[next], 3_k)
    call atomic_ref(old, word[next])
    call check(old == 12, 'xor')
    call fetching
    call atomic_add(word[next], huge(0_k))
    call atomic_add(word[next], huge(0_k))
    call atomic_ref(old, word[next])
    call check(old == 98, 'sums wrap')
    sync all
    call atomic_ref(old, word)
    call check(old == 98, 'own variable')
  end subroutine

  subroutine fetching
    integer :: stat
    stat = -1
    call atomic_fetch_add(word[next], -2_k, old, stat)
    call check(old == 12 .and. stat == 0, 'fetch_add')
    call atomic_fetch_and(word[next], 8_k, old)
    call check(old == 10, 'fetch_and')
    call atomic_fetch_or(word[next], 3_k, old)
    call check(old == 8, 'fetch_or')
    call atomic_fetch_xor(word[next], 1_k, old)
    call check(old == 11, 'fetch_xor')
    call atomic_cas(word[next], old, 11_k, 5_k, stat)
    call check(old == 10 .and. stat == 0, 'cas of another value: old')
    call atomic_cas(word[next], old, 10_k, 100_k)
    call check(old == 10, 'cas: old')
    call atomic_ref(old, word[next])
    call check(old == 100, 'cas: new')
  end subroutine

  subroutine logicals
    call atomic_cas(flag[next], was, .true., .true.)
    call check(.not. was, 'logical cas of another value')
    call atomic_cas(flag[next], was, .false., .true.)
    call check(.not. was, 'logical cas')
    call atomic_ref(was, flag[next])
    call check(was, 'logical ref')
    sync all
    call check(flag, 'own logical')
  end subroutine

  ! Elements of arrays, components, allocated coarrays; neighbours keep what they have.
  subroutine places
    integer :: i
    do i = 1, 16
      call atomic_add(many(i)[next], int(i, k))
    end do
    call atomic_define(pairs(2)[next]%word, 9_k)
    call atomic_or(dynamic(2, 2)[next], 64_k)
    call atomic_fetch_add(dynamic(1, 3)[next], 5_k, old)
    sync all
    call check(all(many == [(i, i = 1, 16)]), 'elements of an array')
    call check(all(pairs%pad == 7) .and. all(pairs%word == [0, 9, 0]), 'component')
    call check(all(dynamic == reshape([0, 0, 0, 64, 5, 0], [2, 3])) .and. old == 0, &
      'allocated coarray')
  end subroutine

  subroutine mistakes
    integer :: stat
    call atomic_add(word[n + 1], 1_k, stat)
    call check(stat /= 0, 'no such image')
    call atomic_ref(old, word[n + 1], stat)
    call check(stat /= 0, 'ref: no such image')
  end subroutine

  ! All images add to every image's variable.
  subroutine sums
    integer :: i, image
    call atomic_define(word, 0_k)
    sync all
    do i = 1, rounds
      do image = 1, n
        call atomic_add(word[image], int(me, k))
      end do
    end do
    sync all
    call atomic_ref(old, word)
    call check(old == rounds * n * (n + 1) / 2, 'sum of all')
    sync all
  end subroutine

  ! Each image changes a bit of its own.
  subroutine bits
    integer :: i, bit
    bit = mod(me - 1, 30)
    call atomic_define(word, 0_k)
    sync all
    if (me <= 30) then
      do i = 1, rounds
        call atomic_fetch_xor(word[1], ishft(1_k, bit), old)
        call check(btest(old, bit) .eqv. mod(i, 2) == 0, 'own bit by xor')
      end do
      do i = 1, rounds
        call atomic_or(word[1], ishft(1_k, bit))
        call atomic_fetch_and(word[1], not(ishft(1_k, bit)), old)
        call check(btest(old, bit), 'own bit by or and and')
      end do
      call atomic_or(word[1], ishft(1_k, bit))
    end if
    sync all
    call atomic_ref(old, word[1])
    call check(old == ishft(1, min(n, 30)) - 1, 'bits of all')
    sync all
  end subroutine

  ! No two images draw the same number.
  subroutine tickets
    integer(k) :: last
    integer :: i
    integer(k), save :: drawn(0:rounds * 8 - 1)[*]
    drawn = 0
    call atomic_define(word, 0_k)
    sync all
    last = -1
    do i = 1, rounds
      call atomic_fetch_add(word[1], 1_k, old)
      call check(old > last .and. old < rounds * n, 'tickets ascend')
      last = old
      if (old < size(drawn)) call atomic_add(drawn(old)[1], 1_k)
    end do
    sync all
    if (me == 1) call check(all(drawn(:min(rounds * n, size(drawn)) - 1) == 1), 'each ticket once')
    sync all
  end subroutine

  ! Counting by compare and swap alone.
  subroutine race
    integer(k) :: guess
    integer :: i
    call atomic_define(word, 0_k)
    sync all
    do i = 1, rounds
      guess = 0
      do
        call atomic_cas(word[n], old, guess, guess + 1)
        if (old == guess) exit
        guess = old
      end do
    end do
    sync all
    call atomic_ref(old, word[n])
    call check(old == rounds * n, 'counted by cas')
  end subroutine
end program
