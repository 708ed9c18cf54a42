! SPDX-License-Identifier: BSD-3-Clause
! Pointer components that point to memory of an image which is no coarray: saved, allocated, on the
! stack; of the images alone.
program pointers
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  type leaf
    integer :: k
    real(8) :: r(6)
    integer, pointer :: q(:)
    integer, allocatable :: a(:)
    character(len=7) :: c
  end type
  type box
    integer :: id
    integer, pointer :: p(:)
    real(8), pointer :: m(:,:)
    integer, pointer :: one
    type(leaf), pointer :: l
    type(leaf), pointer :: list(:)
    character(len=5), pointer :: c(:)
    integer, allocatable :: own(:)
  end type
  integer, parameter :: many = 2621440 ! 10 MB
  type(box) :: b[*]
  type(box), allocatable :: row(:)[:]
  integer, target, save :: saved(100), single
  real(8), target, save :: matrix(0:9,20)
  type(leaf), target, save :: one, several(0:3)
  character(len=5), target, save :: words(4)
  integer, target, save :: below(50)
  integer, pointer :: large(:)
  integer :: me, n, next, prev, i
  me = this_image()
  n = num_images()
  next = mod(me, n) + 1
  prev = mod(me + n - 2, n) + 1
  allocate(row(1:3)[*])
  allocate(large(many))
  call build
  sync all
  call gets(next)
  call gets(prev)
  sync all
  call puts
  sync all
  call seen
  sync all
  call strides_large
  sync all
  call here
  sync all
  call presence
  sync all
  call between
  sync all
  if (me == 1) print '(a)', 'ok pointers'
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

  subroutine build
    integer :: j
    saved = [(1000 * me + i, i = 1, 100)]
    single = 7 * me
    do j = 1, 20
      matrix(:, j) = [(me + 100d0 * j + i, i = 0, 9)]
    end do
    below = [(-1000 * me - i, i = 1, 50)]
    one = leaf(me, [(me + 0.5d0 * i, i = 1, 6)], below(50:1:-1), [me, me + 1, me + 2], 'leaf')
    do i = 0, 3
      several(i) = leaf(10 * me + i, [(me + dble(i * j), j = 1, 6)], saved(i + 1:i + 5), [i, me], &
        'several')
    end do
    words = ['one  ', 'two  ', 'three', 'four ']
    large = [(ieor(i, me), i = 1, many)]
    b%id = me
    b%p(-4:) => saved
    b%m => matrix
    b%one => single
    b%l => one
    b%list => several
    b%c => words
    b%own = [me, 2 * me, 3 * me]
    row(1)%p => saved(1:99:2)
    row(2)%p => large
    row(3)%m => matrix(1:9:4, 20:2:-3)
  end subroutine

  subroutine gets(from)
    integer, intent(in) :: from
    integer :: k, v(5), w(5), s(0:99)
    real(8) :: m(0:9, 20), part(3, 5)
    real(4) :: single_precision(10)
    character(len=3) :: short(4)
    character(len=9) :: text
    k = b[from]%p(-4)
    call check(k == 1000 * from + 1, 'a scalar')
    k = b[from]%one
    call check(k == 7 * from, 'a pointer to a scalar')
    s = b[from]%p
    call check(all(s == [(1000 * from + i, i = 1, 100)]), 'a whole array')
    v = b[from]%p(0:16:4)
    call check(all(v == 1000 * from + [5, 9, 13, 17, 21]), 'strides')
    v = b[from]%p(16:0:-4)
    call check(all(v == 1000 * from + [21, 17, 13, 9, 5]), 'negative strides')
    w = [3, 90, 1, 1, 17]
    v = b[from]%p(w)
    call check(all(v == 1000 * from + w + 5), 'vector subscripts')
    m = b[from]%m
    call check(all(m(0:9, 20) == [(from + 2000d0 + i, i = 0, 9)]), 'a matrix')
    part = b[from]%m(2:9:3, 1:20:4)
    call check(all(part == m(2:9:3, 1:20:4)), 'strides of a matrix')
    m = 0
    m(2:9:3, 1:20:4) = b[from]%m(2:9:3, 1:20:4)
    call check(all(m(2:9:3, 1:20:4) == part) .and. sum(m) == sum(part), 'strides on both sides')
    part = row(3)[from]%m(:, 1:5)
    call check(all(part(:, 2) == [(from + 1700d0 + i, i = 1, 9, 4)]), 'a pointer to a section')
    single_precision = b[from]%p(1:10)
    call check(all(single_precision == [(real(1000 * from + i), i = 6, 15)]), 'conversion')
    short = b[from]%c
    call check(all(short == ['one', 'two', 'thr', 'fou']), 'characters')
    v = row(1)[from]%p(46:50)
    call check(all(v == 1000 * from + [91, 93, 95, 97, 99]), 'a pointer to odd elements')
    k = b[from]%l%k
    call check(k == from, 'a component of a target')
    single_precision(1:2) = b[from]%l%r(3:6:3)
    call check(all(single_precision(1:2) == [from + 1.5, from + 3.0]), 'an array in a target')
    v = b[from]%l%q(1:9:2)
    call check(all(v == -1000 * from - [50, 48, 46, 44, 42]), 'a pointer in a target')
    v(1:3) = b[from]%l%a
    call check(all(v(1:3) == [from, from + 1, from + 2]), 'an allocatable component in a target')
    text = b[from]%l%c
    call check(text == 'leaf', 'characters in a target')
    v(1:4) = b[from]%list%k
    call check(all(v(1:4) == 10 * from + [0, 1, 2, 3]), 'a component of each element')
    v(1:2) = b[from]%list(2)%a
    call check(all(v(1:2) == [2, from]), 'an allocatable component of an element')
    v = b[from]%list(3)%q
    call check(all(v == 1000 * from + [4, 5, 6, 7, 8]), 'a pointer of an element')
    v(1:3) = b[from]%own
    call check(all(v(1:3) == [from, 2 * from, 3 * from]), 'an allocatable component of the coarray')
  end subroutine

  ! By the previous image, to different elements.
  subroutine puts
    integer :: v(4), w(4)
    real(8) :: part(2, 3)
    b[next]%p(-4) = me
    b[next]%one = -me
    b[next]%p(1:3) = [me, 2 * me, 3 * me]
    b[next]%p(10:40:10) = 5.0 * me
    v = [80, 60, 70, 50]
    w = me * [1, 2, 3, 4]
    b[next]%p(v) = w
    b[next]%p(95:90:-1) = me
    part = reshape([(dble(me + i), i = 1, 6)], [2, 3])
    b[next]%m(0:9:9, 3:9:3) = part
    b[next]%m(1, :) = -1d0 * me
    b[next]%c(2:3) = 'longer than that'
    b[next]%l%k = 1000 + me
    b[next]%l%r(::5) = [1d0, 2d0]
    b[next]%l%q(1:2) = [3, 4]
    b[next]%l%a(2) = 5
    b[next]%list(0:3:3)%k = me
    b[next]%own(2) = -me
  end subroutine

  subroutine seen
    call check(saved(1) == prev, 'a scalar put')
    call check(single == -prev, 'a scalar put to a pointer to a scalar')
    call check(all(saved(6:8) == [prev, 2 * prev, 3 * prev]) .and. saved(9) == 1000 * me + 9, &
      'a section put')
    call check(all(saved(15:45:10) == 5 * prev) .and. saved(16) == 1000 * me + 16, &
      'a value put with a stride')
    call check(all(saved([85, 65, 75, 55]) == prev * [1, 2, 3, 4]) .and. &
      saved(54) == 1000 * me + 54, 'vector subscripts of a put')
    call check(all(saved(95:100) == prev) .and. saved(94) == 1000 * me + 94, &
      'a descending section put')
    call check(all(matrix(0, 3:9:3) == prev + [1, 3, 5]), 'a strided part of a matrix put')
    call check(all(matrix(9, 3:9:3) == prev + [2, 4, 6]), &
      'a strided part of a matrix put, second row')
    call check(all(matrix(1, :) == -1d0 * prev) .and. matrix(2, 20) == me + 2002d0, 'a row put')
    call check(all(words == ['one  ', 'longe', 'longe', 'four ']), 'characters put')
    call check(one%k == 1000 + prev, 'a component of a target put')
    call check(all(one%r == [1d0, me + 1d0, me + 1.5d0, me + 2d0, me + 2.5d0, 2d0]), &
      'an array in a target put')
    call check(all(below(49:50) == [4, 3]) .and. below(48) == -1000 * me - 48, &
      'a pointer in a target put')
    call check(all(one%a == [me, 5, me + 2]), 'an allocatable component in a target put')
    call check(all(several%k == [prev, 10 * me + 1, 10 * me + 2, prev]), &
      'a component of elements put')
    call check(all(b%own == [me, -prev, 3 * me]), 'an allocatable component of the coarray put')
  end subroutine

  subroutine strides_large
    integer, allocatable :: v(:), w(:)
    v = row(2)[next]%p
    call check(all(v == [(ieor(i, next), i = 1, many)]), 'a large array')
    v = row(2)[next]%p(many:1:-2)
    call check(all(v == [(ieor(i, next), i = many, 1, -2)]), 'a large array by strides')
    w = [(1 + mod(7 * i, many), i = 1, 40000)]
    v = row(2)[next]%p(w)
    call check(all(v == ieor(w, next)), 'many subscripts')
    sync all
    v = [(3 * i + me, i = 1, many)]
    row(2)[next]%p(:) = v
    sync all
    call check(all(large == [(3 * i + prev, i = 1, many)]), 'a large array put')
    sync all
    row(2)[next]%p(2:many:2) = v(1:many / 2)
    w = [(1 + 2 * i, i = 0, 30000 - 1, 3), (3 + 2 * i, i = 0, 30000 - 1, 3)]
    row(2)[next]%p(w) = v(1:20000)
    sync all
    call check(all(large(2:many:2) == [(3 * i + prev, i = 1, many / 2)]), &
      'a large array put by strides')
    call check(all(large(w) == [(3 * i + prev, i = 1, 20000)]) .and. large(5) == 15 + prev, &
      'many elements put')
  end subroutine

  ! Memory of a procedure, and what is allocated after other images have looked.
  subroutine here
    integer, target :: local(1000)
    integer :: v(1000)
    real(8), pointer :: late(:,:)
    local = me
    call point(local)
    allocate(late(100, 100))
    late = me
    b%m => late
    b%own = [(me, i = 1, 100000)]
    sync all
    v = b[next]%p
    call check(all(v == next), 'memory of a procedure')
    call check(abs(b[next]%m(100, 100) - next) < 0.1, 'allocated later')
    v(1:100) = b[next]%own(99901:100000)
    call check(all(v(1:100) == next), 'a large component allocated later')
    b[next]%p(1000:1:-1) = me + v * 0
    sync all
    call check(all(local == prev), 'memory of a procedure put')
    b[next]%own(2:100000:1000) = me
    sync all
    call check(all(b%own(2:100000:1000) == prev) .and. b%own(3) == me, &
      'a large component allocated later put')
    nullify(b%p)
    deallocate(late)
    b%m => matrix
  end subroutine

  subroutine point(t)
    integer, target, intent(in) :: t(:)
    b%p => t
  end subroutine

  subroutine presence
    if (me == 1) deallocate(one%a)
    sync all
    call check(allocated(b[next]%l%a) .eqv. next /= 1, 'allocated behind a pointer')
    call check(allocated(b[next]%own), 'allocated')
  end subroutine

  subroutine between
    matrix = me
    saved = me
    b%p => saved
    sync all
    if (me == 1) then
      do i = 1, n
        b[i]%p(1:50) = b[next]%p(100:51:-1)
        b[i]%m(0:1, 5) = b[n]%p(60:61)
      end do
    end if
    sync all
    call check(all(saved(51:100) == me) .and. all(saved(1:50) == mod(1, n) + 1), &
      'from one image to another')
    call check(all(matrix(0:1, 5) == n) .and. matrix(2, 5) == me, &
      'from one image to another, with conversion')
  end subroutine
end program
