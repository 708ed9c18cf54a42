! SPDX-License-Identifier: BSD-3-Clause
! References and assignments to coindexed objects in the forms for which gfortran 15 and later
! compiles functions of their own: scalars, sections, vector subscripts, variables in subscripts,
! components, character data, other shapes than the coarray's, two images.
program accessors
  implicit none
  type node
    integer :: a = 0
    integer, allocatable :: v(:)
    integer, allocatable :: s
    real :: r(3) = 0
  end type
  type flat
    double precision :: d(30) = 0
    integer :: k = 0
  end type
  integer, parameter :: n = 10
  integer :: x(n)[*], y(4,6)[*], me, np, next, prev, i, j, idx(3), t(3)
  integer, allocatable :: al(:), am(:,:)[:], big(:)[:], copy(:)
  character(len=7) :: c(3)[*], loc
  character(len=12) :: long
  complex :: z(2)[*]
  type(flat) :: f(2)[*], g
  type(node) :: sn[*]
  type(node), allocatable :: nd(:)[:]

  me = this_image()
  np = num_images()
  next = mod(me, np) + 1
  prev = mod(me + np - 2, np) + 1
  x = [(100*me + i, i = 1, n)]
  y = reshape([(1000*me + i, i = 1, 24)], [4, 6])
  c = ['one    ', 'two    ', 'three  ']
  c(3)(7:7) = achar(iachar('0') + me)
  z = cmplx(me, -me)
  f(2)%d = [(me + i*0.5d0, i = 1, 30)]
  f(2)%k = me
  allocate (am(3,-1:4)[*], nd(4)[*], big(1200000)[*])
  am = reshape([(10*me + i, i = 1, 18)], [3, 6])
  big = [(i + me, i = 1, size(big))]
  idx = [3, 1, 2]
  sync all
  call gets
  sync all
  call puts
  sync all
  call check_puts
  sync all
  call components
  sync all
  call pairs
  sync all
  if (me == 1) print '(a)', 'ok accessors'
contains
  subroutine check(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    print '(a,i0,2a)', 'image ', me, ': wrong: ', what
    flush (6)
    error stop 1
  end subroutine

  subroutine gets
    integer :: m
    m = 100*next
    i = 2
    t = x(idx)[next]
    call check(all(t == m + idx), 'vector subscript')
    t = x(1:5:2)[next]
    call check(all(t == m + [1, 3, 5]), 'stride')
    t = x(9:5:-2)[next]
    call check(all(t == m + [9, 7, 5]), 'backwards')
    call check(x(i)[next] == m + 2, 'element')
    al = x(2:7)[next]
    call check(size(al) == 6 .and. all(al == m + [(j, j = 2, 7)]), 'allocated by the assignment')
    al = am(2,:)[next]
    call check(size(al) == 6 .and. all(al == 10*next + [(2 + 3*j, j = 0, 5)]), &
      'row of unknown size')
    call check(all(y(2:3,2:4)[next] == 1000*next + reshape([6, 7, 10, 11, 14, 15], [2, 3])), &
      'block')
    call check(all(y(:,3)[next] == 1000*next + [9, 10, 11, 12]), 'column')
    call check(sum(x(:)[next]) == 10*m + 55, 'sum')
    call check(z(2)[next] == cmplx(next, -next), 'complex')
    loc = c(2)[next]
    call check(loc == 'two', 'character')
    long = c(3)[next]
    call check(long == 'three '//achar(iachar('0') + next), 'padded character')
    g = f(2)[next]
    call check(g%k == next .and. g%d(30) == next + 15, 'object of derived type')
    call check(f(2)[next]%d(i + 1) == next + 1.5d0, 'element of a component')
    copy = big(:)[next]
    call check(size(copy) == size(big) .and. all(copy == [(j + next, j = 1, size(big))]), &
      'large array')
    call check(am(3,-1)[next] == 10*next + 3, 'lower bound')
    t = x(2:4)[me]
    call check(all(t == 100*me + [2, 3, 4]), 'own image')
  end subroutine

  ! Each image assigns to the next one.
  subroutine puts
    real :: r(3)
    i = 4
    t = [7, 8, 9] + 10*me
    r = t
    x(idx)[next] = t
    x(5:9:2)[next] = r
    x(i)[next] = -me
    y(:,2)[next] = 4 + me
    y(1:2,4:5)[next] = reshape(t(1) + [0, 1, 2, 3], [2, 2])
    loc = 'put'
    c(2)[next] = loc
    c(1)[next] = 'longer than seven'
    z(2)[next] = cmplx(0, me)
    g%d = me
    g%k = -me
    f(1)[next] = g
    f(2)[next]%d(3:4) = [0.25d0, 0.5d0]
    am(:,2)[next] = [1, 2, 3]*me
    copy = [(3*j - me, j = 1, size(big))]
    big(:)[next] = copy
  end subroutine

  subroutine check_puts
    integer :: p
    p = 10*prev
    call check(all(x(1:4) == [p + 8, p + 9, p + 7, -prev]), 'put by vector subscript')
    call check(all(x(5:9) == [p + 7, 100*me + 6, p + 8, 100*me + 8, p + 9]), &
      'put by stride, converted')
    call check(all(y(:,2) == 4 + prev), 'put a scalar to a column')
    call check(all(y(1:2,4:5) == reshape(p + 7 + [0, 1, 2, 3], [2, 2])), 'put a block')
    call check(all(y(3:4,4:5) == reshape(1000*me + [15, 16, 19, 20], [2, 2])), 'beside the block')
    call check(c(1) == 'longer ' .and. c(2) == 'put', 'put character')
    call check(z(2) == cmplx(0, prev), 'put complex')
    call check(f(1)%k == -prev .and. all(f(1)%d == prev), 'put derived type')
    call check(all(f(2)%d(2:5) == [me + 1d0, 0.25d0, 0.5d0, me + 2.5d0]), 'put to a component')
    call check(all(am(:,2) == [1, 2, 3]*prev), 'put to an allocatable coarray')
    call check(all(big == [(3*j - prev, j = 1, size(big))]), 'put a large array')
    sync all
    x = [(i, i = 1, n)]
    x(2:6)[me] = x(1:5)
    call check(all(x == [1, 1, 2, 3, 4, 5, 7, 8, 9, 10]), 'overlap on the image itself')
  end subroutine

  subroutine components
    i = 3
    allocate (nd(i)%v(5), sn%v(4))
    if (mod(me, 2) == 1) allocate (sn%s)
    nd(i)%v = me + [1, 2, 3, 4, 5]
    sn%v = [4, 3, 2, 1]*me
    sync all
    call check(allocated(nd(i)[next]%v), 'allocated component')
    call check(.not. allocated(nd(2)[next]%v), 'component that is not allocated')
    call check(allocated(sn[next]%v), 'allocated component of a scalar')
    call check(allocated(sn[next]%s) .eqv. mod(next, 2) == 1, 'allocated scalar component')
    call check(nd(i)[next]%v(2) == next + 2, 'element of an allocatable component')
    t = nd(i)[next]%v(idx)
    call check(all(t == next + idx), 'vector subscript of a component')
    al = sn[next]%v
    call check(size(al) == 4 .and. all(al == [4, 3, 2, 1]*next), 'whole component')
    sync all
    nd(i)[next]%v(4) = -me
    nd(i)[next]%v(idx) = [1, 2, 3]*me
    sn[next]%v = [1, 2, 3, 4] + me
    sn[next]%a = 5*me
    sn[next]%r(2:3) = real([me, -me])
    sync all
    call check(all(nd(i)%v == [2*prev, 3*prev, prev, -prev, me + 5]), 'put to a component')
    call check(all(sn%v == [1, 2, 3, 4] + prev) .and. sn%a == 5*prev, &
      'put to components of a scalar')
    call check(all(sn%r == [0, prev, -prev]), 'put to a section of a component')
  end subroutine

  ! The first image moves data from the last image to the one before it.
  subroutine pairs
    integer :: to
    if (np == 1) return
    to = np - 1
    x = [(100*me + i, i = 1, n)]
    f(1)%k = 77
    f(2)%d = [(me + i*0.5d0, i = 1, 30)]
    c(3) = 'image '//achar(iachar('0') + me)
    sync all
    if (me == 1) then
      x(idx)[to] = x(4:6)[np]
      x(7)[to] = x(10)[np]
      x(8:9)[to] = x(1)[np]
      c(2)[to] = c(3)[np]
      f(1)[to]%d(5) = f(2)[np]%d(6)
      f(1)[to]%d(7:8) = f(2)[np]%d(9:10)
      f(2)[to] = f(2)[np]
      nd(3)[to]%v = nd(3)[np]%v
      z(2)[to] = z(2)[np]
      big(:)[to] = big(:)[np]
    end if
    sync all
    if (me == to) then
      call check(all(x == 100*np + [5, 6, 4, 4 - 100, 5 - 100, 6 - 100, 10, 1, 1, 10 - 100]), &
        'between two images')
      call check(c(2) == 'image '//achar(iachar('0') + np), 'character between two images')
      call check(f(1)%k == 77 .and. all(f(1)%d([5, 7, 8]) == np + [3d0, 4.5d0, 5d0]), &
        'components between two images')
      call check(f(2)%d(30) == np + 15, 'derived type between two images')
      call check(all(nd(3)%v == nd(3)[np]%v(1:5)), 'allocatable component between two images')
      call check(z(2) == z(2)[np] .and. all(big == big(:)[np]), 'objects between two images')
    end if
  end subroutine
end program
