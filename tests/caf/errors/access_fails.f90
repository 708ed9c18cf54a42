! SPDX-License-Identifier: BSD-3-Clause
! Accesses that must end the job with a message, one for each value of the first argument: see access_fails.txt.
program access_fails
  implicit none
  type node
    integer, allocatable :: v(:)
    integer, pointer :: p(:)
  end type
  type(node), allocatable :: nd(:)[:]
  integer, allocatable :: late[:]
  integer :: x(10)[*], me, n, next, v(3)
  integer, target :: own(3)
  character(len=20) :: which
  me = this_image()
  n = num_images()
  next = mod(me, n) + 1
  allocate(nd(1:2)[*])
  allocate(nd(1)%v(3))
  nd(1)%v = me
  nd(1)%p => own
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
    case ('put private')
      nd(1)[next]%p(2) = 5
    case ('not allocated')
      late[next] = 5
    case ('vector')
      own(1:2) = x(v(1:3:2))[next]
    end select
  end if
  sync all
  if (me == 1) print '(a)', 'ok access_fails'
end program
