! SPDX-License-Identifier: BSD-3-Clause
! Accesses, and a reduction, that must end the job with a message, one for each value of the first
! argument: see access_fails.txt.
module small_types
  implicit none
  type place
    integer :: at = 0
    real(8) :: x = 0
  end type
contains
  pure function larger(a, b) result(r)
    type(place), intent(in) :: a, b
    type(place) :: r
    r = b
    if (a%x > b%x) r = a
  end function
end module

program access_fails
  use small_types
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_funloc, c_funptr, c_int, c_intptr_t, &
    c_null_ptr
  implicit none
  type node
    integer, allocatable :: v(:)
    integer, pointer :: p(:)
  end type
  interface
    integer(c_int) function getppid() bind(c)
      import c_int
    end function
  end interface
  type(node), allocatable :: nd(:)[:]
  type(place) :: best
  integer, allocatable :: late[:]
  integer :: x(10)[*], me, n, next, v(3)
  integer, target :: own(3)
  type(c_funptr) :: code
  character(len=20) :: which
  me = this_image()
  n = num_images()
  next = mod(me, n) + 1
  allocate(nd(1:2)[*])
  allocate(nd(1)%v(3))
  nd(1)%v = me
  allocate(nd(1)%p(1000000))
  code = c_funloc(getppid)
  ! There is no memory at this address.
  if (me > 1) call c_f_pointer(transfer(64_c_intptr_t, c_null_ptr), nd(1)%p, [1000000])
  call c_f_pointer(transfer(code, c_null_ptr), nd(2)%p, [1]) ! only read and executed
  own = me
  x = me
  v = [3, 7, 4]
  call get_command_argument(1, which)
  sync all
  if (me == 1) then
    select case (which)
    case ('get image')
      own(1) = x(1)[n + 1]
    case ('put image')
      x(1)[n + 1] = 5
    case ('put section image')
      x(1:9:2)[n + 3] = 5
    case ('put component image')
      nd(1)[n + 1]%v(1) = 5
    case ('get absent')
      own(1) = nd(2)[next]%v(1)
    case ('put absent')
      nd(2)[next]%v(1) = 1
    case ('put allocates')
      nd(2)[next]%v = [1, 2]
    case ('put reallocates')
      nd(1)[next]%v = [1, 2]
    case ('get private')
      own(1) = nd(1)[next]%p(2)
    case ('get private section')
      own = nd(1)[next]%p(9:1:-4)
    case ('get private vector')
      own = nd(1)[next]%p(v)
    case ('put private')
      nd(1)[next]%p(2) = 5
    case ('put private section')
      nd(1)[next]%p(1:1000000) = 5
    case ('put private vector')
      nd(1)[next]%p(v) = own
    case ('put read only')
      nd(2)[next]%p(1) = 5
    case ('not allocated')
      late[next] = 5
    case ('reduce small type')
      call co_reduce(best, larger)
    case ('vector')
      own(1:2) = x(v(1:3:2))[next]
    end select
  end if
  sync all
  if (me == 1) print '(a)', 'ok access_fails'
end program
