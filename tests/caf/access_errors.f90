! SPDX-License-Identifier: BSD-3-Clause
! Gets that cannot succeed give a stat and leave the destination as it was; an access afterwards
! succeeds. (gfortran does not pass the stat of puts: see access_fails.f90.)
program access_errors
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  type node
    integer :: q
    integer, allocatable :: v(:)
    integer, pointer :: p(:)
  end type
  type(node), allocatable :: nd(:)[:]
  integer :: x(10)[*], k(10), me, n, next, st, i, w(3)
  integer, allocatable :: r(:)
  integer, target :: own(3)
  me = this_image()
  n = num_images()
  next = mod(me, n) + 1
  ! Without the lower bound gfortran 12 writes over nd's descriptor: there is a pointer component.
  allocate(nd(1:2)[*])
  allocate(nd(1)%v(3))
  nd(1)%v = me
  own = 5 * me
  nd(1)%p => own
  x = [(me * 100 + i, i = 1, 10)]
  k = -1
  sync all
  call images
  sync all
  call absent
  sync all
  call others_memory
  sync all
  i = x(3)[next, stat=st]
  call check(st == 0 .and. i == next * 100 + 3, 'an access afterwards')
  sync all
  if (me == 1) print '(a)', 'ok access_errors'
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (.not. good) then
      write (error_unit, '(a,i0,3a,i0)') 'image ', me, ': ', what, ', stat ', st
      flush (error_unit)
      error stop 1
    end if
  end subroutine

  subroutine images
    st = 0
    k(1) = x(1)[n + 1, stat=st]
    call check(st /= 0 .and. k(1) == -1, 'get, no such image')
    st = 0
    k(1:3) = x(1:3)[me - n - 1, stat=st]
    call check(st /= 0 .and. all(k(1:3) == -1), 'get of a section, no such image')
    st = 0
    k(1) = nd(1)[n + 1, stat=st]%v(1)
    call check(st /= 0 .and. k(1) == -1, 'get of a component, no such image')
    ! Some compilers pass the length of such a vector wrongly.
    w = [3, 7, 4]
    st = 0
    k(1:2) = x(w(1:3:2))[next, stat=st]
    call check(st /= 0 .or. all(k(1:2) == next * 100 + [3, 4]), 'vector with a stride')
    k = -1
  end subroutine

  subroutine absent
    st = 0
    k(1) = nd(2)[next, stat=st]%v(1)
    call check(st /= 0 .and. k(1) == -1, 'get of an array that is not allocated')
    st = 0
    r = nd(2)[next, stat=st]%v
    call check(st /= 0, 'whole array that is not allocated')
  end subroutine

  subroutine others_memory
    st = 0
    k(1:3) = nd(1)[me, stat=st]%p(3:1:-1)
    call check(st == 0 .and. all(k(1:3) == 5 * me), 'a pointer to own memory')
    k = -1
    if (n == 1) return
    st = 0
    k(1) = nd(1)[next, stat=st]%p(1)
    call check(st == 0 .and. k(1) == 5 * next, 'a pointer to private memory of another image')
  end subroutine
end program
