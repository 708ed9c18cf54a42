! SPDX-License-Identifier: BSD-3-Clause
! CO_BROADCAST, CO_SUM, CO_MIN, CO_MAX of all types, shapes and result images.
program collectives
  use iso_fortran_env
  implicit none
  integer :: me, n, r
  me = this_image(); n = num_images()
  call integers
  call reals
  call complexes
  call strings
  call shapes
  call broadcasts
  call large
  call arguments
  call many
  sync all
  if (me == 1) print '(a)', 'ok collectives'
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    print *, 'image', me, ': ', what
    error stop 'wrong result'
  end subroutine

  subroutine integers
    integer(int8) :: a1
    integer(int16) :: a2(3)
    integer(int32) :: a4
    integer(int64) :: a8(2)
    integer(16) :: a16
    a1 = int(me, int8); a2 = [-me, me, 7]; a4 = me; a8 = [int(me, int64) * 2_int64**33, -1_int64]
    a16 = me * 2_16**70
    call co_sum(a1); call check(a1 == n * (n + 1) / 2, 'int8 sum')
    call co_sum(a2); call check(all(a2 == [-n * (n + 1) / 2, n * (n + 1) / 2, 7 * n]), 'int16 sum')
    call co_sum(a4); call check(a4 == n * (n + 1) / 2, 'int32 sum')
    call co_sum(a8)
    call check(all(a8 == [n * (n + 1) / 2 * 2_int64**33, int(-n, int64)]), 'int64 sum')
    call co_sum(a16); call check(a16 == n * (n + 1) / 2 * 2_16**70, 'int128 sum')
    a1 = int(-me, int8); a2 = [-me, me, 7]; a4 = -me; a8 = [int(me, int64) * 2_int64**33, -1_int64]
    a16 = -me * 2_16**70
    call co_min(a1); call check(a1 == -n, 'int8 min')
    call co_min(a2); call check(all(a2 == [-n, 1, 7]), 'int16 min')
    call co_max(a4); call check(a4 == -1, 'int32 max')
    call co_max(a8); call check(all(a8 == [n * 2_int64**33, -1_int64]), 'int64 max')
    call co_min(a16); call check(a16 == -n * 2_16**70, 'int128 min')
  end subroutine

  subroutine reals
    real(real32) :: a4
    real(real64) :: a8(2)
    real(10) :: a10(3)
    complex(10) :: c10
    real(16) :: a16(2)
    a4 = me + 0.5; a8 = [me / 4d0, -1d0 * me]; a16 = [me * 2.0_16**300, me / 2.0_16**90]
    call co_sum(a4); call check(a4 == n * (n + 1) / 2 + 0.5 * n, 'real32 sum')
    call co_sum(a8); call check(all(a8 == n * (n + 1) / 2 * [0.25d0, -1d0]), 'real64 sum')
    call co_sum(a16)
    call check(all(a16 == n * (n + 1) / 2 * [2.0_16**300, 1 / 2.0_16**90]), 'real128 sum')
    a10 = [me * 0.1_10, 0.0_10, -3.0_10]
    call co_sum(a10)
    call check(abs(a10(1) - n * (n + 1) / 20.0_10) < 1e-17_10 * n .and. &
      all(a10(2:) == [0.0_10, -3.0_10 * n]), 'real80 sum')
    a10 = 0; call co_sum(a10); call check(all(a10 == 0), 'real80 zeros')
    a16 = 0; call co_sum(a16); call check(all(a16 == 0), 'real128 zeros')
    c10 = cmplx(me, 2 * me, 10); call co_sum(c10)
    call check(c10 == n * (n + 1) / 2 * (1, 2), 'complex80 sum')
    a10 = me; call co_max(a10(2)); call check(all(a10 == [me, n, me]), 'real80 max')
    a4 = me + 0.5; a8 = [me / 4d0, -1d0 * me]; a16 = [me * 2.0_16**300, me / 2.0_16**90]
    call co_max(a4); call check(a4 == n + 0.5, 'real32 max')
    call co_min(a8); call check(all(a8 == [0.25d0, -1d0 * n]), 'real64 min')
    call co_max(a16); call check(all(a16 == n * [2.0_16**300, 1 / 2.0_16**90]), 'real128 max')
  end subroutine

  subroutine complexes
    complex(real32) :: c4(2)
    complex(real64) :: c8
    complex(16) :: c16
    c4 = [cmplx(me, -me), (1.0, 2.0)]; c8 = cmplx(me, 0.5d0, real64); c16 = cmplx(me, -2 * me, 16)
    call co_sum(c4)
    call check(all(c4 == [n * (n + 1) / 2 * (1.0, -1.0), n * (1.0, 2.0)]), 'complex32 sum')
    call co_sum(c8); call check(c8 == cmplx(n * (n + 1) / 2, n * 0.5d0, real64), 'complex64 sum')
    call co_sum(c16); call check(c16 == n * (n + 1) / 2 * (1, -2), 'complex128 sum')
  end subroutine

  subroutine strings
    character(5) :: s, t(3)
    character(kind=4, len=2) :: u
    s = 'abc' // achar(64 + me); t = ['zzzz ', 'image', 'ima' // achar(200 - me) // ' ']
    call co_max(s); call check(s == 'abc' // achar(64 + n), 'string max')
    call co_min(t)
    call check(all(t == ['zzzz ', 'image', 'ima' // achar(200 - n) // ' ']), 'string min')
    u = 4_'a' // char(256 * me, 4)
    call co_max(u); call check(u == 4_'a' // char(256 * n, 4), 'wide string max')
    s = achar(64 + me)
    call co_broadcast(s, n); call check(s == achar(64 + n), 'string broadcast')
  end subroutine

  subroutine shapes
    integer :: a(6, 4), b(3), e(0)
    integer, allocatable :: w(:,:)
    integer :: i
    a = -1
    a(1:5:2, 1:4:3) = me
    call co_sum(a(1:5:2, 1:4:3))
    call check(count(a == n * (n + 1) / 2) == 6 .or. n == 1, 'section sum')
    call check(count(a == -1) == 18, 'outside of the section')
    b = [me, 2 * me, 3 * me]
    call co_max(b(3:1:-1))
    call check(all(b == n * [1, 2, 3]), 'reversed section')
    call co_sum(e)
    allocate (w(2, 2), source=me)
    call co_min(w)
    call check(all(w == 1), 'allocatable')
    do r = 1, n
      i = me; b = me
      call co_sum(i, result_image=r)
      call co_sum(b(1:3:2), result_image=r)
      if (me == r) call check(i == n * (n + 1) / 2 .and. all(b == [i, me, i]), 'result_image')
    end do
  end subroutine

  subroutine broadcasts
    type t
      integer :: i
      real(8) :: x(3)
      logical :: l
    end type
    type(t) :: d
    logical :: l
    integer :: a(7), i
    do r = 1, n
      d = t(me, [1, 2, 3] * me, me == r); l = me == r; a = [(i * me, i = 1, 7)]
      call co_broadcast(d, r)
      call check(d%i == r .and. all(d%x == [1, 2, 3] * r) .and. d%l, 'derived type')
      call co_broadcast(l, r); call check(l, 'logical')
      call co_broadcast(a(2:6:2), r)
      call check(all(a(2:6:2) == [2, 4, 6] * r) .and. all(a(1:7:2) == [1, 3, 5, 7] * me), &
        'broadcast of a section')
    end do
  end subroutine

  subroutine large
    real(8), allocatable :: x(:)
    integer(1), allocatable :: k(:)
    integer :: i
    allocate (x(100000), k(100000))
    x = [(i * 1d0 * me, i = 1, size(x))]
    call co_sum(x)
    call check(all(x == [(i * 1d0 * (n * (n + 1) / 2), i = 1, size(x))]), 'large sum')
    x = [(i * 1d0 * me, i = 1, size(x))]
    call co_broadcast(x, n)
    call check(all(x == [(i * 1d0 * n, i = 1, size(x))]), 'large broadcast')
    k = [(int(mod(i, 50) + me, 1), i = 1, size(k))]
    call co_max(k)
    call check(all(k == [(int(mod(i, 50) + n, 1), i = 1, size(k))]), 'large max of bytes')
  end subroutine

  subroutine arguments
    integer :: i, s
    character(:), allocatable :: msg ! gfortran passes one of fixed length wrongly
    character(60) :: fixed
    i = me
    allocate (character(60) :: msg)
    call co_sum(i, stat=s, errmsg=msg); call check(s == 0, 'stat')
    r = n + 1
    call co_sum(i, result_image=r, stat=s, errmsg=msg)
    call check(s > 0 .and. index(msg, 'no image') > 0, 'result_image that is not there')
    call co_broadcast(i, r, stat=s, errmsg=msg)
    call check(s > 0 .and. index(msg, 'no image') > 0, 'source_image that is not there')
    call co_broadcast(i, r, stat=s, errmsg=fixed)
    call check(s > 0, 'errmsg of fixed length')
  end subroutine

  ! More broadcasts of one image than others can be behind
  subroutine many
    integer :: i, k
    do i = 1, 1000
      k = i * me
      call co_broadcast(k, 1)
      call check(k == i, 'many broadcasts')
    end do
  end subroutine
end program
