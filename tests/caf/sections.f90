! SPDX-License-Identifier: BSD-3-Clause
! Random sections of arrays of 1 to 4 dimensions, got, put and moved between images, against the
! same assignments of own arrays. All images draw the same sections, so that each knows what the
! others put. Arrays of 7 and 14 dimensions besides.
program sections
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  implicit none
  integer, parameter :: d = 9, trials = 300
  integer :: x1(d)[*], x2(d,d)[*], x3(d,d,d)[*], x4(d,d,d,d)[*]
  integer :: y1(d)[*], y2(d,d)[*], y3(d,d,d)[*], y4(d,d,d,d)[*]
  integer :: me, n, next, prev, trial
  integer :: a(3,4), b(3,4) ! first, last, step of a dimension of either side
  integer(int64) :: state = 12345
  me = this_image()
  n = num_images()
  next = mod(me, n) + 1
  prev = mod(me + n - 2, n) + 1
  x1 = reshape(model(me, d), [d])
  x2 = reshape(model(me, d**2), [d, d])
  x3 = reshape(model(me, d**3), [d, d, d])
  x4 = reshape(model(me, d**4), [d, d, d, d])
  sync all
  do trial = 1, trials
    call draw
    call one
    call two
    if (mod(trial, 2) == 0) call three
    if (mod(trial, 5) == 0) call four
  end do
  call seven
  call fourteen
  sync all
  if (me == 1) print '(a)', 'ok sections'
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (.not. good) then
      write (error_unit, '(a,i0,3a,i0,a,12i3,a,12i3)') 'image ', me, ': ', what, ', trial ', &
        trial, ':', a, ' and', b
      flush (error_unit)
      error stop 1
    end if
  end subroutine

  function model(image, size) result(r)
    integer, intent(in) :: image, size
    integer :: r(size), i
    r = [(10000 * image + i, i = 1, size)]
  end function

  ! 0 .. below - 1
  integer function random(below)
    integer, intent(in) :: below
    state = mod(state * 1103515245_int64 + 12345_int64, 2147483648_int64)
    random = int(mod(state / 65536, int(below, int64)))
  end function

  ! A triplet of `count` elements.
  function triplet(count) result(t)
    integer, intent(in) :: count
    integer :: t(3), step, room
    step = 1
    if (count > 1) step = 1 + random((d - 1) / (count - 1))
    if (random(3) == 0) step = 1
    room = d - (count - 1) * step
    t(1) = 1 + random(max(room, 1))
    t(2) = t(1) + (count - 1) * step
    t(3) = step
    if (count == 0) t(2) = t(1) - 1
    if (random(3) == 0 .and. count > 0) t = [t(2), t(1), -step]
  end function

  subroutine draw
    integer :: i, count
    do i = 1, 4
      count = 1 + random(d)
      if (random(4) == 0) count = d
      if (random(30) == 0) count = 0
      a(:,i) = triplet(count)
      b(:,i) = triplet(count)
      if (count == d .and. random(2) == 0) then
        a(:,i) = [1, d, 1]
        b(:,i) = [1, d, 1]
      end if
    end do
  end subroutine

  subroutine one
    integer :: m(d), r(d), l(d)
    m = reshape(model(next, d), [d])
    r = 0
    l = 0
    r(a(1,1):a(2,1):a(3,1)) = m(b(1,1):b(2,1):b(3,1))
    l(a(1,1):a(2,1):a(3,1)) = x1(b(1,1):b(2,1):b(3,1))[next]
    call check(all(r == l), 'get 1')
    y1 = 0
    sync all
    y1(a(1,1):a(2,1):a(3,1))[next] = x1(b(1,1):b(2,1):b(3,1))
    sync all
    r = 0
    m = reshape(model(prev, d), [d])
    r(a(1,1):a(2,1):a(3,1)) = m(b(1,1):b(2,1):b(3,1))
    call check(all(r == y1), 'put 1')
    r = 0
    y1 = 0
    sync all
    y1(a(1,1):a(2,1):a(3,1))[next] = x1(b(1,1):b(2,1):b(3,1))[prev]
    sync all
    m = reshape(model(mod(prev + n - 2, n) + 1, d), [d])
    r(a(1,1):a(2,1):a(3,1)) = m(b(1,1):b(2,1):b(3,1))
    call check(all(r == y1), 'between 1')
    ! The own image: what is read and what is written may be the same elements.
    r = x1
    y1 = x1
    r(a(1,1):a(2,1):a(3,1)) = r(b(1,1):b(2,1):b(3,1))
    y1(a(1,1):a(2,1):a(3,1))[me] = y1(b(1,1):b(2,1):b(3,1))
    call check(all(r == y1), 'move 1')
    y1 = x1
    y1(a(1,1):a(2,1):a(3,1)) = y1(b(1,1):b(2,1):b(3,1))[me]
    call check(all(r == y1), 'move by get 1')
    sync all
  end subroutine

  subroutine two
    integer :: m(d,d), r(d,d), l(d,d)
    m = reshape(model(next, d**2), [d, d])
    r = 0
    l = 0
    r(a(1,1):a(2,1):a(3,1), a(1,2):a(2,2):a(3,2)) = m(b(1,1):b(2,1):b(3,1), b(1,2):b(2,2):b(3,2))
    l(a(1,1):a(2,1):a(3,1), a(1,2):a(2,2):a(3,2)) = &
      x2(b(1,1):b(2,1):b(3,1), b(1,2):b(2,2):b(3,2))[next]
    call check(all(r == l), 'get 2')
    y2 = 0
    sync all
    y2(a(1,1):a(2,1):a(3,1), a(1,2):a(2,2):a(3,2))[next] = &
      x2(b(1,1):b(2,1):b(3,1), b(1,2):b(2,2):b(3,2))
    sync all
    r = 0
    m = reshape(model(prev, d**2), [d, d])
    r(a(1,1):a(2,1):a(3,1), a(1,2):a(2,2):a(3,2)) = m(b(1,1):b(2,1):b(3,1), b(1,2):b(2,2):b(3,2))
    call check(all(r == y2), 'put 2')
    y2 = x2
    r = x2
    r(a(1,1):a(2,1):a(3,1), a(1,2):a(2,2):a(3,2)) = r(b(1,1):b(2,1):b(3,1), b(1,2):b(2,2):b(3,2))
    y2(a(1,1):a(2,1):a(3,1), a(1,2):a(2,2):a(3,2))[me] = &
      y2(b(1,1):b(2,1):b(3,1), b(1,2):b(2,2):b(3,2))[me]
    call check(all(r == y2), 'move 2')
    sync all
  end subroutine

  subroutine three
    integer :: m(d,d,d), r(d,d,d)
    real(8) :: l(d,d,d)
    m = reshape(model(next, d**3), [d, d, d])
    r = 0
    l = 0
    r(a(1,1):a(2,1):a(3,1), a(1,2):a(2,2):a(3,2), a(1,3):a(2,3):a(3,3)) = &
      m(b(1,1):b(2,1):b(3,1), b(1,2):b(2,2):b(3,2), b(1,3):b(2,3):b(3,3))
    l(a(1,1):a(2,1):a(3,1), a(1,2):a(2,2):a(3,2), a(1,3):a(2,3):a(3,3)) = &
      x3(b(1,1):b(2,1):b(3,1), b(1,2):b(2,2):b(3,2), b(1,3):b(2,3):b(3,3))[next]
    call check(all(r == l), 'get 3, converted')
    l = x3
    y3 = 0
    sync all
    y3(a(1,1):a(2,1):a(3,1), a(1,2):a(2,2):a(3,2), a(1,3):a(2,3):a(3,3))[next] = &
      l(b(1,1):b(2,1):b(3,1), b(1,2):b(2,2):b(3,2), b(1,3):b(2,3):b(3,3))
    sync all
    r = 0
    m = reshape(model(prev, d**3), [d, d, d])
    r(a(1,1):a(2,1):a(3,1), a(1,2):a(2,2):a(3,2), a(1,3):a(2,3):a(3,3)) = &
      m(b(1,1):b(2,1):b(3,1), b(1,2):b(2,2):b(3,2), b(1,3):b(2,3):b(3,3))
    call check(all(r == y3), 'put 3, converted')
    sync all
  end subroutine

  subroutine four
    integer :: m(d,d,d,d), r(d,d,d,d), l(d,d,d,d)
    m = reshape(model(next, d**4), [d, d, d, d])
    r = 0
    l = 0
    r(a(1,1):a(2,1):a(3,1), a(1,2):a(2,2):a(3,2), a(1,3):a(2,3):a(3,3), a(1,4):a(2,4):a(3,4)) = &
      m(b(1,1):b(2,1):b(3,1), b(1,2):b(2,2):b(3,2), b(1,3):b(2,3):b(3,3), b(1,4):b(2,4):b(3,4))
    l(a(1,1):a(2,1):a(3,1), a(1,2):a(2,2):a(3,2), a(1,3):a(2,3):a(3,3), a(1,4):a(2,4):a(3,4)) = &
      x4(b(1,1):b(2,1):b(3,1), b(1,2):b(2,2):b(3,2), b(1,3):b(2,3):b(3,3), &
        b(1,4):b(2,4):b(3,4))[next]
    call check(all(r == l), 'get 4')
    y4 = 0
    sync all
    y4(a(1,1):a(2,1):a(3,1), a(1,2):a(2,2):a(3,2), a(1,3):a(2,3):a(3,3), &
      a(1,4):a(2,4):a(3,4))[next] = &
      x4(b(1,1):b(2,1):b(3,1), b(1,2):b(2,2):b(3,2), b(1,3):b(2,3):b(3,3), b(1,4):b(2,4):b(3,4))
    sync all
    r = 0
    m = reshape(model(prev, d**4), [d, d, d, d])
    r(a(1,1):a(2,1):a(3,1), a(1,2):a(2,2):a(3,2), a(1,3):a(2,3):a(3,3), a(1,4):a(2,4):a(3,4)) = &
      m(b(1,1):b(2,1):b(3,1), b(1,2):b(2,2):b(3,2), b(1,3):b(2,3):b(3,3), b(1,4):b(2,4):b(3,4))
    call check(all(r == y4), 'put 4')
    sync all
  end subroutine

  subroutine seven
    integer, save :: z(3,3,3,3,3,3,3)[*]
    integer :: m(3,3,3,3,3,3,3), r(2,2,2,2,2,2,2), l(2,2,2,2,2,2,2)
    z = reshape(model(me, 3**7), shape(z))
    m = reshape(model(next, 3**7), shape(m))
    sync all
    r = m(1:3:2, 3:1:-2, 1:2, 3:1:-2, 1:3:2, 2:3, 3:2:-1)
    l = z(1:3:2, 3:1:-2, 1:2, 3:1:-2, 1:3:2, 2:3, 3:2:-1)[next]
    call check(all(r == l), 'get 7')
    sync all
    z(1:3:2, 3:1:-2, 1:2, 3:1:-2, 1:3:2, 2:3, 3:2:-1)[next] = -r
    m = reshape(model(me, 3**7), shape(m))
    m(1:3:2, 3:1:-2, 1:2, 3:1:-2, 1:3:2, 2:3, 3:2:-1) = &
      -m(1:3:2, 3:1:-2, 1:2, 3:1:-2, 1:3:2, 2:3, 3:2:-1)
    sync all
    call check(all(z == m), 'put 7')
  end subroutine

  ! As many as there can be with a codimension.
  subroutine fourteen
    integer, save :: z(3,2,2,2,2,2,2,2,2,2,2,2,2,3)[*]
    integer, dimension(2,2,2,2,2,2,2,2,2,2,2,2,2,2) :: r, l
    integer, allocatable :: m(:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    integer, parameter :: size = 9 * 2**12
    allocate(m(3,2,2,2,2,2,2,2,2,2,2,2,2,3))
    z = reshape(model(me, size), shape(z))
    m = reshape(model(next, size), shape(m))
    sync all
    r = m(1:3:2, 2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, :, 1:3:2)
    l = z(1:3:2, 2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, :, 1:3:2)[next]
    call check(all(r == l), 'get 14')
    sync all
    z(3:1:-2, :,2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, 2:3)[next] = -r
    sync all
    m = reshape(model(me, size), shape(m))
    l = m(1:3:2, 2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, :, 1:3:2)
    m(3:1:-2, :,2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, :,2:1:-1, 2:3) = -l
    call check(all(z == m), 'put 14')
  end subroutine
end program
