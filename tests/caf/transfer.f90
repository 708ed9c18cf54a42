! SPDX-License-Identifier: BSD-3-Clause
! Gets, puts and both at once of scalars and sections: stride signs, ranks, vector subscripts,
! broadcast, overlap, no elements.
program transfer
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer :: x(-4:15)[*], y(-1:5,2:6)[*], s[*]
  real(8), allocatable :: a(:,:,:,:)[:]
  integer :: me, n, next, prev, i, st
  integer :: v(3), k(20), m(7,5)
  character(len=5) :: c(4)[*]
  me = this_image()
  n = num_images()
  next = mod(me, n) + 1
  prev = mod(me + n - 2, n) + 1
  allocate(a(3,-1:2,4,2:3)[*])
  call scalars
  call lines
  call planes
  call vectors
  call long_vectors
  call patches
  call moves
  call between
  call strings
  sync all
  if (me == 1) print '(a)', 'ok transfer'
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

  subroutine scalars
    s = 0
    sync all
    s[next] = 10 * me
    sync all
    call check(s == 10 * prev, 'scalar put')
    call check(s[next] == 10 * me, 'scalar get')
    st = 7
    i = s[next, stat=st]
    call check(st == 0 .and. i == 10 * me, 'scalar get with stat')
    sync all
    s[me] = -me
    call check(s == -me .and. s[me] == -me, 'own image')
    sync all
  end subroutine

  subroutine lines
    x = [(100 * me + i, i = -4, 15)]
    sync all
    k(1:20) = x(:)[next]
    call check(all(k == [(100 * next + i, i = -4, 15)]), 'whole get')
    k = 0
    k(2:20:3) = x(15:-3:-3)[next]
    call check(all(k(2:20:3) == [(100 * next + i, i = 15, -3, -3)]), 'descending get')
    k = 0
    k(20:2:-3) = x(15:-3:-3)[next]
    call check(all(k(20:2:-3) == [(100 * next + i, i = 15, -3, -3)]), 'both descending')
    k(5:4) = x(3:2)[next]
    sync all
    x(15:1:-2)[next] = [(me * 1000 + i, i = 1, 8)]
    sync all
    call check(all(x(15:1:-2) == [(prev * 1000 + i, i = 1, 8)]), 'descending put')
    call check(all(x(2:14:2) == [(100 * me + i, i = 2, 14, 2)]), 'between the elements of a put')
    sync all
    x(2:14:4)[next] = 5
    x(-4:-1)[next] = me
    sync all
    call check(all(x(2:14:4) == 5) .and. all(x(-4:-1) == prev), 'broadcast')
    sync all
    k(5:6) = [me, -me]
    x(-4:15:19)[next] = k(6:5:-1)
    sync all
    call check(x(-4) == -prev .and. x(15) == prev, 'two elements')
    sync all
  end subroutine

  subroutine planes
    y = reshape([(1000 * me + i, i = 1, 35)], [7,5])
    sync all
    m = y(:,:)[next]
    call check(all(m == reshape([(1000 * next + i, i = 1, 35)], [7,5])), 'plane get')
    m = 0
    m(1:4,1:2) = y(5:-1:-2,6:2:-4)[next]
    call check(all(m(1:4,1) == [(1000 * next + i, i = 35, 29, -2)]), 'plane get, both descending')
    call check(all(m(1:4,2) == [(1000 * next + i, i = 7, 1, -2)]), 'plane get, both descending 2')
    m(7,:) = y(3,:)[next]
    call check(all(m(7,:) == [(1000 * next + i, i = 5, 33, 7)]), 'row get')
    sync all
    y(0:2,3:5)[next] = -m(1:3,3:1:-1)
    y(5,:)[next] = me
    sync all
    call check(all(y(5,:) == prev), 'row broadcast')
    call check(all(y(0:2,5) == [(-1000 * me - i, i = 35, 31, -2)]), 'plane put')
    call check(y(-1,3) == 1000 * me + 8 .and. y(3,3) == 1000 * me + 12, 'around a plane put')
    sync all
  end subroutine

  subroutine vectors
    v = [7, -2, 3]
    x = [(100 * me + i, i = -4, 15)]
    y = reshape([(1000 * me + i, i = 1, 35)], [7,5])
    sync all
    k(1:3) = x(v)[next]
    call check(all(k(1:3) == 100 * next + v), 'vector get')
    k(5:1:-2) = x(v)[next]
    call check(all(k(5:1:-2) == 100 * next + v), 'vector get, descending')
    sync all
    x(v)[next] = [me, me + 1, me + 2]
    x([15_8, 9_8, 12_8])[next] = -1
    sync all
    call check(all(x(v) == [prev, prev + 1, prev + 2]), 'vector put')
    call check(x(15) == -1 .and. x(9) == -1 .and. x(12) == -1 .and. x(10) == 100 * me + 10, &
      'vector broadcast')
    v = [4, 2, 6]
    m(1:7,1:3) = y(:,v)[next]
    call check(all(m(:,1) == [(1000 * next + i, i = 15, 21)]), 'columns by vector')
    call check(all(m(:,2) == [(1000 * next + i, i = 1, 7)]), 'columns by vector 2')
    call check(all(m(:,3) == [(1000 * next + i, i = 29, 35)]), 'columns by vector 3')
    m(1:2,1:3) = y([5, 0],v)[next]
    call check(all(m(1,1:3) == 1000 * next + [21, 7, 35]), 'two vectors')
    call check(all(m(2,1:3) == 1000 * next + [16, 2, 30]), 'two vectors 2')
    k(1:3) = y(3,v)[next]
    call check(all(k(1:3) == 1000 * next + [19, 5, 33]), 'vector and subscript')
    k(1:3) = y(3,[2,3,4])[next]
    call check(all(k(1:3) == 1000 * next + [5, 12, 19]), 'vector in progression')
    m(1:2,1:3) = y(4:1:-3,v)[next]
    call check(all(m(1,1:3) == 1000 * next + [20, 6, 34]), 'descending and vector')
    call check(all(m(2,1:3) == 1000 * next + [17, 3, 31]), 'descending and vector 2')
    sync all
    y(1:2,v)[next] = m(1:2,1:3)
    sync all
    call check(all(y(1,v) == 1000 * me + [20, 6, 34]), 'put, descending and vector')
    sync all
  end subroutine

  ! More segments than one vector operation takes.
  subroutine long_vectors
    integer, parameter :: many = 40000
    integer, allocatable :: big(:)[:], at(:), got(:)
    allocate(big(0:2*many)[*])
    allocate(at(many), got(many))
    big = [(me + i, i = 0, 2*many)]
    at = [(2*i - merge(1, 0, mod(i, 3) == 2), i = 1, many)]
    sync all
    got = big(at)[next]
    call check(all(got == next + at), 'long vector get')
    sync all
    big(at)[next] = -got
    sync all
    call check(all(big(at) == -me - at) .and. count(big < 0) == many, 'long vector put')
    sync all
    deallocate(big)
  end subroutine

  subroutine patches
    real(8) :: b(3,4,4,2)
    integer :: j, l, o
    do o = 2, 3
      do l = 1, 4
        do j = -1, 2
          a(:,j,l,o) = [(me * 1d4 + i + 10 * j + 100 * l + 1000 * o, i = 1, 3)]
        end do
      end do
    end do
    sync all
    b(1:2,1:2,1:2,1:2) = a(3:1:-2,-1:2:3,2:4:2,3:2:-1)[next]
    do o = 1, 2
      do l = 1, 2
        do j = 1, 2
          do i = 1, 2
            call check(b(i,j,l,o) == next * 1d4 + (5 - 2*i) + 10 * (3*j - 4) + 100 * 2*l + &
              1000 * (4 - o), 'patch get')
          end do
        end do
      end do
    end do
    sync all
    a(:,1,3:2:-1,:)[next] = 2.5d0
    a(2,:,:,2)[next] = reshape([(me + 0.5d0 * i, i = 1, 16)], [4,4])
    sync all
    call check(all(a(1:3:2,1,2:3,:) == 2.5d0) .and. all(a(2,1,2:3,3) == 2.5d0), 'patch broadcast')
    call check(all(a(2,:,:,2) == reshape([(prev + 0.5d0 * i, i = 1, 16)], [4,4])), 'patch put')
    sync all
  end subroutine

  subroutine moves
    x = [(i, i = -4, 15)]
    sync all
    x(0:9)[me] = x(1:10)
    call check(all(x(0:9) == [(i, i = 1, 10)]) .and. x(10) == 10, 'move down')
    x = [(i, i = -4, 15)]
    x(1:10) = x(0:9)[me]
    call check(all(x(1:10) == [(i, i = 0, 9)]), 'move up')
    x = [(i, i = -4, 15)]
    x(1:10)[me] = x(10:1:-1)[me]
    call check(all(x(1:10) == [(i, i = 10, 1, -1)]), 'reverse')
    x = [(i, i = -4, 15)]
    x(0:4)[me] = x(0:4) + x(3)[me]
    call check(all(x(0:4) == [(i + 3, i = 0, 4)]), 'sum')
    sync all
  end subroutine

  subroutine between
    integer :: to, from
    x = [(100 * me + i, i = -4, 15)]
    y = reshape([(1000 * me + i, i = 1, 35)], [7,5])
    sync all
    from = prev
    to = next
    x(1:5)[to] = y(4,:)[from]
    x(15:12:-3)[to] = x(-4:-1:3)[from]
    x([9, 7, 10])[to] = y(0,[2, 6, 3])[from]
    sync all
    from = mod(prev + n - 2, n) + 1
    call check(all(x(1:5) == [(1000 * from + i, i = 6, 34, 7)]), 'between images')
    call check(x(15) == 100 * from - 4 .and. x(12) == 100 * from - 1, 'between images, descending')
    call check(all(x([9, 7, 10]) == 1000 * from + [2, 30, 9]), 'between images, vectors')
    sync all
    x(:)[next] = s[prev]
    sync all
    call check(all(x == -from), 'between images, broadcast')
    sync all
  end subroutine

  subroutine strings
    character(len=3) :: short
    character(len=8) :: long(4)
    c = 'c' // achar(48 + me)
    sync all
    short = c(2)[next]
    call check(short == 'c' // achar(48 + next), 'string get, truncated')
    long = c(:)[next]
    call check(all(long == 'c' // achar(48 + next)), 'string get, padded')
    sync all
    c(2:4:2)[next] = 'abcdefgh'
    c(1)[next] = long(1)
    sync all
    call check(c(2) == 'abcde' .and. c(4) == 'abcde', 'string put, truncated')
    call check(c(1) == 'c' // achar(48 + me), 'string put')
    sync all
  end subroutine
end program
