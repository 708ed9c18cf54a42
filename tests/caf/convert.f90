! SPDX-License-Identifier: BSD-3-Clause
! Conversion between all types and kinds in gets and puts: numbers, logicals, strings.
program convert
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer(1) :: i1(4), i1x(4), to_i1(5)[*]
  integer(2) :: i2(4), i2x(4), to_i2(5)[*]
  integer(4) :: i4(4), i4x(4), to_i4(5)[*]
  integer(8) :: i8(4), i8x(4), to_i8(5)[*]
  integer(16) :: i16(4), i16x(4), to_i16(5)[*]
  real(4) :: r4(4), r4x(4), to_r4(5)[*]
  real(8) :: r8(4), r8x(4), to_r8(5)[*]
  real(10) :: r10(4), r10x(4), to_r10(5)[*]
  real(16) :: r16(4), r16x(4), to_r16(5)[*]
  complex(4) :: z4(4), z4x(4), to_z4(5)[*]
  complex(8) :: z8(4), z8x(4), to_z8(5)[*]
  complex(10) :: z10(4), z10x(4), to_z10(5)[*]
  complex(16) :: z16(4), z16x(4), to_z16(5)[*]
  real(8), parameter :: values(4) = [1.75d0, -2.5d0, 100.d0, 0.d0]
  integer :: me, n, next
  me = this_image()
  n = num_images()
  next = mod(me, n) + 1
  call from_i1('i1')
  call from_i2('i2')
  call from_i4('i4')
  call from_i8('i8')
  call from_i16('i16')
  call from_r4('r4')
  call from_r8('r8')
  call from_r10('r10')
  call from_r16('r16')
  call from_z4('z4')
  call from_z8('z8')
  call from_z10('z10')
  call from_z16('z16')
  call logicals
  call strings
  sync all
  if (me == 1) print '(a)', 'ok convert'
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

  subroutine logicals
    logical(1) :: l1(3)[*]
    logical(2) :: l2(3)[*]
    logical(4) :: l4(3)[*]
    logical(8) :: l8(3)[*]
    save
    logical(1) :: g1(3)
    logical(8) :: g8(3)
    l1 = [.true., .false., .true.]
    l4 = .not. l1
    sync all
    g8 = l1(:)[next]
    call check(count(g8) == 2 .and. count(g8(2:2)) == 0, 'logical 1 to 8')
    g1 = l4(3:1:-1)[next]
    call check(count(g1) == 1 .and. count(g1(2:2)) == 1, 'logical 4 to 1')
    l2(:)[next] = l4
    l8(:)[next] = l1(2)
    sync all
    call check(count(l2) == 1 .and. count(l2(2:2)) == 1 .and. count(l8) == 0, 'logical put')
    sync all
  end subroutine

  subroutine strings
    character(len=6) :: c1(3)[*]
    character(len=4, kind=4) :: c4(3)[*]
    save
    character(len=8, kind=4) :: g4(3)
    character(len=3) :: g1(3), s1
    c1 = [character(len=6) :: 'abcdef', 'g', '']
    c4 = [character(len=4, kind=4) :: 4_'wxyz', 4_'w', 4_' z']
    sync all
    g4 = c1(:)[next]
    call check(all(g4 == [character(len=8, kind=4) :: 4_'abcdef', 4_'g', 4_'']), 'string 1 to 4')
    g1 = c4(3:1:-1)[next]
    call check(all(g1 == [' z ', 'w  ', 'wxy']), 'string 4 to 1')
    s1 = c4(1)[next]
    call check(s1 == 'wxy', 'scalar string 4 to 1')
    g1 = c1(:)[next]
    call check(all(g1 == ['abc', 'g  ', '   ']), 'strings truncated')
    sync all
    c4(1:3:2)[next] = c1(2:1:-1)
    sync all
    c1(:)[next] = g4(1:3)(1:3)
    sync all
    call check(all(c4 == [character(len=4, kind=4) :: 4_'g', 4_'w', 4_'abcd']), 'string put 1 to 4')
    call check(all(c1 == [character(len=6) :: 'abc', 'g', '']), 'string put 4 to 1')
    sync all
  end subroutine

  subroutine from_i1(what)
    character(*), intent(in) :: what
    integer(1), save :: s(4)[*]
    include 'convert.inc'
  end subroutine

  subroutine from_i2(what)
    character(*), intent(in) :: what
    integer(2), save :: s(4)[*]
    include 'convert.inc'
  end subroutine

  subroutine from_i4(what)
    character(*), intent(in) :: what
    integer(4), save :: s(4)[*]
    include 'convert.inc'
  end subroutine

  subroutine from_i8(what)
    character(*), intent(in) :: what
    integer(8), save :: s(4)[*]
    include 'convert.inc'
  end subroutine

  subroutine from_i16(what)
    character(*), intent(in) :: what
    integer(16), save :: s(4)[*]
    include 'convert.inc'
  end subroutine

  subroutine from_r4(what)
    character(*), intent(in) :: what
    real(4), save :: s(4)[*]
    include 'convert.inc'
  end subroutine

  subroutine from_r8(what)
    character(*), intent(in) :: what
    real(8), save :: s(4)[*]
    include 'convert.inc'
  end subroutine

  subroutine from_r10(what)
    character(*), intent(in) :: what
    real(10), save :: s(4)[*]
    include 'convert.inc'
  end subroutine

  subroutine from_r16(what)
    character(*), intent(in) :: what
    real(16), save :: s(4)[*]
    include 'convert.inc'
  end subroutine

  subroutine from_z4(what)
    character(*), intent(in) :: what
    complex(4), save :: s(4)[*]
    include 'convert.inc'
  end subroutine

  subroutine from_z8(what)
    character(*), intent(in) :: what
    complex(8), save :: s(4)[*]
    include 'convert.inc'
  end subroutine

  subroutine from_z10(what)
    character(*), intent(in) :: what
    complex(10), save :: s(4)[*]
    include 'convert.inc'
  end subroutine

  subroutine from_z16(what)
    character(*), intent(in) :: what
    complex(16), save :: s(4)[*]
    include 'convert.inc'
  end subroutine
end program
