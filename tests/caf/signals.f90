! SPDX-License-Identifier: BSD-3-Clause
! A coarray program with handlers of its own, installed by C's signal when the images run: they are
! called for the signals that it sends to itself, and for no others, while images wait for each
! other and sum.
module handlers
  use iso_c_binding
  implicit none
  integer, parameter :: most = 64
  integer, volatile :: count(most) = 0
  interface
    function install(sig, handler) bind(c, name='signal') result(former)
      import :: c_int, c_funptr, c_intptr_t
      integer(c_int), value :: sig
      type(c_funptr), value :: handler
      integer(c_intptr_t) :: former
    end function
    function send(sig) bind(c, name='raise') result(code)
      import :: c_int
      integer(c_int), value :: sig
      integer(c_int) :: code
    end function
  end interface
contains
  subroutine handler(sig) bind(c)
    integer(c_int), value :: sig
    count(sig) = count(sig) + 1
  end subroutine
end module

program signals
  use handlers
  use iso_fortran_env
  implicit none
  integer, parameter :: rounds = 400
  integer(c_int), parameter :: urg = 23, prof = 27, segv = 11, chld = 17
  integer(c_int), parameter :: sigs(4) = [urg, prof, segv, chld]
  integer(c_intptr_t) :: former
  integer :: box(64)[*], i, k, me, n, total

  me = this_image()
  n = num_images()
  do k = 1, size(sigs)
    former = install(sigs(k), c_funloc(handler))
    call check(former == 0 .or. sigs(k) == segv, 'another handler was there', k)
  end do
  do i = 1, rounds
    box(:)[merge(1, me + 1, me == n)] = i
    sync all
    call check(all(box == i), 'data', i)
    call check(send(sigs(mod(i, 4) + 1)) == 0, 'raise', i)
    total = 1
    call co_sum(total)
    call check(total == n, 'a sum', total)
  end do
  do k = 1, size(sigs)
    call check(count(sigs(k)) == rounds / 4, 'signals received', count(sigs(k)))
  end do
  sync all
  if (me == 1) print '(a)', 'ok signals'
contains
  subroutine check(good, what, value)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    integer, intent(in) :: value
    if (good) return
    write (error_unit, '(a,i0,3a,i0)') 'image ', me, ': wrong: ', what, ': ', value
    error stop 1
  end subroutine
end program
