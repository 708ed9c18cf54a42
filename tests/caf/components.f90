! SPDX-License-Identifier: BSD-3-Clause
! Allocatable and pointer components, over three levels, and the whole arrays and parts that are got
! and put through them.
program components
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  type leaf
    integer :: n(4)
    integer :: q
    real, allocatable :: a(:,:)
    character(len=5) :: c(3)
    integer :: g(0:3,2:6)
  end type
  type mid
    integer :: k
    type(leaf), allocatable :: l(:)
    type(leaf), pointer :: p(:)
    integer, allocatable :: s
    real(8), allocatable :: w(:)
  end type
  type box
    integer :: k
    type(leaf), allocatable :: l(:)
  end type
  type top
    type(box), allocatable :: m(:)
    integer :: last
  end type
  type(mid), allocatable :: am(:)[:]
  type(top) :: t[*]
  type(mid) :: st(0:2,3)[*]
  integer :: me, n, next, prev, i, j
  me = this_image()
  n = num_images()
  next = mod(me, n) + 1
  prev = mod(me + n - 2, n) + 1
  call build
  sync all
  call gets
  sync all
  call wholes
  sync all
  call puts
  sync all
  call presence
  sync all
  call between
  sync all
  if (me == 1) print '(a)', 'ok components'
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (.not. good) then
      write (error_unit, '(a,i0,2a)') 'image ', me, ': ', what
      flush (error_unit)
      error stop 1
    end if
  end subroutine

  subroutine fill(l, x)
    type(leaf), intent(inout) :: l
    integer, intent(in) :: x
    l%n = x + [1, 2, 3, 4]
    l%q = x
    l%c = [character(len=5) :: 'one', 'two', 'three']
    l%g = reshape([(x + 10 * i, i = 1, 20)], [4, 5])
  end subroutine

  real function value(image, i, j)
    integer, intent(in) :: image, i, j
    value = image * 100 + 10 * i + j
  end function

  subroutine build
    allocate(am(2:3)[*])
    allocate(am(2)%l(0:3), am(3)%p(2))
    do i = 0, 3
      call fill(am(2)%l(i), 1000 * me + 100 * i)
    end do
    do i = 1, 2
      call fill(am(3)%p(i), 2000 * me + 100 * i)
    end do
    allocate(am(2)%l(1)%a(-1:2, 4:6))
    am(2)%l(1)%a = reshape([((value(me, i, j), i = -1, 2), j = 4, 6)], [4, 3])
    allocate(am(2)%s)
    am(2)%s = 7 * me
    am(2:3)%k = [me, -me]
    allocate(am(3)%w(5 + me))
    am(3)%w = [(me + 0.5d0 * i, i = 1, 5 + me)]
    allocate(am(2)%w(8 + me))
    am(2)%w = [(me - 0.5d0 * i, i = 1, 8 + me)]
    allocate(t%m(2))
    allocate(t%m(2)%l(3))
    do i = 1, 3
      call fill(t%m(2)%l(i), 3000 * me + 100 * i)
      allocate(t%m(2)%l(i)%a(2, i))
      t%m(2)%l(i)%a = i + me
    end do
    t%last = me
    st%k = reshape([(me * 100 + i, i = 1, 9)], [3, 3])
    allocate(st(1,2)%l(2))
    call fill(st(1,2)%l(1), 4000 * me)
    call fill(st(1,2)%l(2), 5000 * me)
  end subroutine

  subroutine gets
    integer :: k(20), idx(3)
    real :: r(4,3)
    real(8) :: d(4)
    character(len=7) :: c(3)
    i = am(2)[next]%l(3)%q
    call check(i == 1000 * next + 300, 'scalar of an allocatable array')
    i = am(3)[next]%p(2)%n(3)
    call check(i == 2000 * next + 203, 'element of a pointer array')
    i = am(2)[next]%s
    call check(i == 7 * next, 'allocatable scalar')
    k(1:4) = am(2)[next]%l(:)%q
    call check(all(k(1:4) == 1000 * next + [0, 100, 200, 300]), 'component of all')
    k(1:2) = am(2)[next]%l(3:1:-2)%q
    call check(all(k(1:2) == 1000 * next + [300, 100]), 'component of some, descending')
    k(1:2) = am(2)[next]%l(2:)%n(2)
    call check(all(k(1:2) == 1000 * next + [202, 302]), 'from')
    k(5:1:-2) = am(2)[next]%l(:2)%q
    call check(all(k(5:1:-2) == 1000 * next + [0, 100, 200]), 'up to')
    idx = [3, 0, 2]
    k(1:3) = am(2)[next]%l(idx)%q
    call check(all(k(1:3) == 1000 * next + 100 * idx), 'vector')
    k(1:20) = reshape(am(2)[next]%l(1)%g, [20])
    call check(all(k == 1000 * next + 100 + [(10 * i, i = 1, 20)]), 'all of a static array')
    k(1:4) = reshape(am(2)[next]%l(1)%g(2:1:-1,3:6:3), [4])
    call check(all(k(1:4) == 1000 * next + 100 + [70, 60, 190, 180]), 'part of a static array')
    r = am(2)[next]%l(1)%a
    call check(all(r == reshape([((value(next, i, j), i = -1, 2), j = 4, 6)], [4, 3])), &
      'array in array')
    r(:,1:2) = am(2)[next]%l(1)%a(2:-1:-1,5:)
    call check(all(r(:,1:2) == reshape([((value(next, i, j), i = 2, -1, -1), j = 5, 6)], [4, 2])), &
      'part of it')
    d = am(2)[next]%l(1)%a(:,6)
    call check(all(d == [(value(next, i, 6), i = -1, 2)]), 'column, converted')
    c = am(2)[next]%l(1)%c
    call check(all(c == [character(len=7) :: 'one', 'two', 'three']), 'strings')
    k(1:3) = t[next]%m(2)%l(:)%n(4)
    call check(all(k(1:3) == 3000 * next + [104, 204, 304]), 'three levels')
    d(1:3) = t[next]%m(2)%l(3)%a(2,:)
    call check(all(d(1:3) == 3 + next), 'four levels')
    k(1:2) = st(1:2,3)[next]%k
    call check(all(k(1:2) == next * 100 + [8, 9]), 'component of a static coarray')
    k(1:3) = st(1,:)[next]%k
    call check(all(k(1:3) == next * 100 + [2, 5, 8]), 'component of a static coarray, row')
    k(1:2) = 1 + st(1,2)[next]%l(:)%q
    call check(all(k(1:2) == [4000, 5000] * next + 1), 'in an expression')
  end subroutine

  subroutine wholes
    real, allocatable :: a(:,:), v(:)
    real(8), allocatable :: w(:)
    integer, allocatable :: k(:)
    a = am(2)[next]%l(1)%a
    call check(lbound(a, 1) == 1 .and. all(shape(a) == [4, 3]), 'shape of an allocated array')
    call check(all(a == reshape([((value(next, i, j), i = -1, 2), j = 4, 6)], [4, 3])), &
      'an allocated array')
    do i = 1, 3
      a = t[next]%m(2)%l(i)%a
      call check(all(shape(a) == [2, i]) .and. all(a == i + next), 'reallocated')
    end do
    v = am(2)[next]%l(1)%a([2, -1, 0], 5)
    call check(all(v == [value(next, 2, 5), value(next, -1, 5), value(next, 0, 5)]), &
      'vector, allocated')
    w = am(3)[next]%w
    call check(size(w) == 5 + next .and. w(2) == next + 1, &
      'numbers of elements that differ between images')
    k = am(2)[next]%l(1:2)%q
    call check(all(k == 1000 * next + [100, 200]), 'allocated, component of some')
    k = am(2)[me]%l(:)%q
    call check(size(k) == 4 .and. all(k == 1000 * me + [0, 100, 200, 300]), 'allocated, own image')
  end subroutine

  subroutine puts
    integer :: k(4)
    real :: r(4,3)
    real(8) :: w(5 + next)
    k = [4, 3, 2, 1]
    am(2)[next]%l(0)%n = k
    am(2)[next]%l(2)%n(2:) = k(:3)
    am(2)[next]%l(1:3:2)%q = -me
    am(3)[next]%p(:)%n(1) = k(3:4)
    am(2)[next]%s = me
    r = 1.5 * me
    r(2,3) = 9
    am(2)[next]%l(1)%a = r
    am(2)[next]%l(1)%c(2) = 'changed'
    t[next]%m(2)%l(3)%a(:,3:1:-2) = reshape([1, 2, 3, 4], [2, 2])
    w = me
    am(3)[next]%w = w
    am(3)[next]%w(2:4:2) = [0.25d0, 0.75d0]
    st(:,2)[next]%k = [7, 8, 9]
    st(1,2)[next]%l(2)%g(1:2,5) = k(1:2)
    sync all
    call check(all(am(2)%l(0)%n == k), 'put of a static array')
    call check(am(2)%l(2)%n(1) == 1000 * me + 201 .and. all(am(2)%l(2)%n(2:) == k(:3)), &
      'put of a part')
    call check(all(am(2)%l(:)%q == [1000 * me, -prev, 1000 * me + 200, -prev]), &
      'broadcast to components')
    call check(all(am(3)%p(:)%n(1) == [2, 1]), 'put through a pointer')
    call check(am(2)%s == prev, 'put to an allocatable scalar')
    call check(am(2)%l(1)%a(0,6) == 9 .and. count(am(2)%l(1)%a == 1.5 * prev) == 11, &
      'put to an allocated array')
    call check(lbound(am(2)%l(1)%a, 1) == -1, 'bounds after a put')
    call check(am(2)%l(1)%c(2) == 'chang' .and. am(2)%l(1)%c(1) == 'one', 'put of a string')
    call check(all(t%m(2)%l(3)%a == reshape([3, 4, 3 + me, 3 + me, 1, 2], [2, 3])), &
      'put over levels')
    call check(am(3)%w(2) == 0.25d0 .and. am(3)%w(4) == 0.75d0 .and. am(3)%w(5) == prev, &
      'put of doubles')
    call check(all(st(:,2)%k == [7, 8, 9]) .and. st(0,3)%k == me * 100 + 7, &
      'put to a static coarray')
    call check(all(st(1,2)%l(2)%g(:,5) == [5000 * me + 130, 4, 3, 5000 * me + 160]), &
      'put to a static array')
  end subroutine

  subroutine presence
    logical :: p(2)
    p(1) = allocated(am(2)[next]%l)
    p(2) = allocated(am(3)[next]%l)
    call check(all(p .eqv. [.true., .false.]), 'arrays, present')
    p(1) = allocated(am(2)[next]%s)
    p(2) = allocated(am(3)[next]%s)
    call check(all(p .eqv. [.true., .false.]), 'scalars, present')
    p(1) = allocated(am(2)[next]%l(1)%a)
    p(2) = allocated(am(2)[next]%l(2)%a)
    call check(all(p .eqv. [.true., .false.]), 'arrays in arrays, present')
    p(1) = allocated(am(3)[next]%l(2)%a)
    call check(.not. p(1), 'array in an array that is not allocated')
    p(1) = allocated(t[next]%m(2)%l(2)%a)
    p(2) = allocated(t[next]%m(1)%l)
    call check(all(p .eqv. [.true., .false.]), 'levels, present')
  end subroutine

  subroutine between
    integer :: to, from
    from = next
    to = me
    am(2)[to]%l(2)%n = am(2)[from]%l(3)%n
    am(3)[to]%w = am(2)[from]%w
    am(2)[to]%l(2)%a = t[from]%m(2)%l(2)%a
    call check(all(am(2)%l(2)%n == 1000 * next + 300 + [1, 2, 3, 4]), 'both coindexed')
    call check(allocated(am(2)%l(2)%a), 'allocated by assignment')
    call check(all(shape(am(2)%l(2)%a) == [2, 2]) .and. all(am(2)%l(2)%a == 2 + next), &
      'allocated by assignment, value')
    sync all
    call check(size(am(3)%w) == 8 + next, 'reallocated by assignment')
    call check(all(am(3)%w == [(next - 0.5d0 * i, i = 1, 8 + next)]), &
      'reallocated by assignment, value')
    deallocate (am(2)%l(2)%a, am(3)%w)
  end subroutine
end program
