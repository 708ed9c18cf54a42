! SPDX-License-Identifier: BSD-3-Clause
! Collectives of nothing: strings of length 0, arrays without elements, types without components.
! They change nothing and wait for no image; what follows them works.
program empty
  implicit none
  type nil
  end type
  integer :: me, n, stat
  character(0) :: nothing, list(3)
  character(kind=4, len=0) :: wide
  character(:), allocatable :: s
  character(5) :: five(2)
  integer :: none(0), matrix(3, 0), numbers(4)
  real(16) :: quadruple(0)
  complex(8) :: pairs(0)
  integer(2) :: small(0)
  type(nil) :: thing, things(2)
  me = this_image(); n = num_images()
  call co_broadcast(nothing, 1)
  call co_broadcast(list, n)
  call co_max(nothing); call co_min(nothing)
  call co_max(list, result_image=n); call co_min(list, stat=stat)
  if (stat /= 0) error stop 'stat of strings'
  call co_max(wide); call co_min(wide)
  allocate(character(0) :: s)
  call co_max(s); call co_min(s)
  if (len(s) /= 0) error stop 'length'
  call co_reduce(nothing, later)
  call co_reduce(list, later, result_image=1)
  call co_sum(none); call co_max(none); call co_min(none); call co_sum(matrix)
  call co_sum(quadruple); call co_max(quadruple); call co_sum(pairs); call co_sum(small, stat=stat)
  if (stat /= 0) error stop 'stat of arrays'
  call co_broadcast(matrix, 1)
  call co_reduce(none, larger)
  five = 'abcde'
  call co_max(five(2:1)); call co_min(five(2:1)); call co_reduce(five(2:1), later)
  call co_broadcast(thing, 1)
  call co_reduce(thing, either)
  call co_reduce(things, either, stat=stat)
  if (stat /= 0) error stop 'stat of a type without components'
  numbers = me
  call co_sum(numbers(3:2))
  if (any(numbers /= me)) error stop 'numbers that are not in a section'
  call co_sum(numbers)
  if (any(numbers /= n * (n + 1) / 2)) error stop 'a sum behind empty ones'
  five = repeat(achar(64 + me), 5)
  call co_max(five)
  if (any(five /= repeat(achar(64 + n), 5))) error stop 'a maximum behind empty ones'
  sync all
  if (me == 1) print '(a)', 'ok empty'
contains
  pure function later(a, b) result(r)
    character(*), intent(in) :: a, b
    character(len(a)) :: r
    r = merge(a, b, a > b)
  end function
  pure integer function larger(a, b)
    integer, intent(in) :: a, b
    larger = max(a, b)
  end function
  pure function either(a, b) result(r)
    type(nil), intent(in) :: a, b
    type(nil) :: r
    r = merge(a, b, .true.)
  end function
end program
