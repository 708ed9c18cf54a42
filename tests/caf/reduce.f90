! SPDX-License-Identifier: BSD-3-Clause
! CO_REDUCE with functions of all types.
program reduce
  use iso_fortran_env
  implicit none
  type pair
    real(8) :: value, weight, more
    integer :: image
  end type
  integer :: me, n, i
  integer(1) :: i1
  integer(2) :: i2
  integer :: i4(5)
  integer(8) :: i8
  integer(16) :: i16
  real(4) :: r4
  real(8) :: r8
  real(16) :: r16
  complex(4) :: c4
  complex(8) :: c8
  real(10) :: r10
  complex(10) :: c10
  complex(16) :: c16
  logical :: l
  character(6) :: s
  type(pair) :: p(2)
  me = this_image(); n = num_images()
  i1 = int(me, 1); call co_reduce(i1, or1); if (i1 /= ior_to(n)) error stop 'int8'
  i2 = int(me, 2); call co_reduce(i2, or2); if (i2 /= ior_to(n)) error stop 'int16'
  i4 = [1, 2, 3, 4, 5] * me; call co_reduce(i4, max4)
  if (any(i4 /= [1, 2, 3, 4, 5] * n)) error stop 'int32'
  i4 = [1, 2, 3, 4, 5] * me; call co_reduce(i4(1:5:2), max4)
  if (any(i4 /= [n, 2 * me, 3 * n, 4 * me, 5 * n])) error stop 'section'
  i4 = me; call co_reduce(i4, sum_of_values, result_image=n)
  if (me == n .and. any(i4 /= n * (n + 1) / 2)) error stop 'value'
  i8 = me; call co_reduce(i8, product8)
  if (i8 /= product([(int(i, 8), i = 1, n)])) error stop 'int64'
  i16 = me; call co_reduce(i16, add16); if (i16 /= n * (n + 1) / 2) error stop 'int128'
  r4 = me; call co_reduce(r4, addr4); if (r4 /= n * (n + 1) / 2) error stop 'real32'
  r8 = me; call co_reduce(r8, addr8); if (r8 /= n * (n + 1) / 2) error stop 'real64'
  r16 = me; call co_reduce(r16, addr16); if (r16 /= n * (n + 1) / 2) error stop 'real128'
  c4 = me * (1, 2); call co_reduce(c4, addc4)
  if (c4 /= n * (n + 1) / 2 * (1, 2)) error stop 'complex32'
  c8 = me * (1, 2); call co_reduce(c8, addc8)
  if (c8 /= n * (n + 1) / 2 * (1, 2)) error stop 'complex64'
  r10 = me * 2.5_10; call co_reduce(r10, addr10)
  if (r10 /= n * (n + 1) / 2 * 2.5_10) error stop 'real80'
  call unused_bytes(1 + 2._10 ** (-10), .true.)
  call unused_bytes(2.5_10, .true.)
  call unused_bytes(1 / 3._10, .true.)
  c10 = me * (1, 2); call co_reduce(c10, addc10)
  if (c10 /= n * (n + 1) / 2 * (1, 2)) error stop 'complex80'
  r16 = 1 + 262136 * 2._16 ** (-52); call co_reduce(r16, addr16) ! its first bytes look like kind 10
  if (r16 /= n * (1 + 262136 * 2._16 ** (-52))) error stop 'double in kind 16'
  r16 = 1 + 262136 * 2._16 ** (-52); call co_reduce(r16, sum16_of_values)
  if (r16 /= n * (1 + 262136 * 2._16 ** (-52))) error stop 'value of kind 16'
  c16 = (1, 2) * (1 + 262136 * 2._16 ** (-52)); call co_reduce(c16, sumc16_of_values)
  if (c16 /= n * (1, 2) * (1 + 262136 * 2._16 ** (-52))) error stop 'value of complex(16)'
  c16 = me * (1, 2); call co_reduce(c16, addc16)
  if (c16 /= n * (n + 1) / 2 * (1, 2)) error stop 'complex128'
  l = me /= n; call co_reduce(l, both); if (l) error stop 'logical'
  s = 'image' // achar(64 + me); call co_reduce(s, later)
  if (s /= 'image' // achar(64 + n)) error stop 'string'
  p(1) = pair(me, 2d0, 3d0, me); p(2) = pair(-me, 2d0, 3d0, me)
  call co_reduce(p, larger)
  if (p(1)%image /= n .or. p(1)%value /= n .or. p(2)%image /= 1 .or. p(2)%more /= 3) &
    error stop 'derived type'
  sync all
  if (me == 1) print '(a)', 'ok reduce'
contains
  ! The bytes that a number of kind 10 leaves unused look like the exponent of one of kind 16.
  subroutine unused_bytes(value, filled)
    real(10), intent(in) :: value
    logical, intent(in) :: filled
    real(10) :: x
    complex(10) :: z
    integer(8), volatile :: bytes(4)
    integer, volatile :: one = 1
    equivalence (x, z, bytes)
    bytes = 0
    if (filled) bytes = int(z'3fff3fff3fff3fff', 8)
    x = value * one ! computed, so that ten bytes are stored
    call co_reduce(x, addr10)
    if (abs(x - n * value) > 1e-15_10) error stop 'unused bytes'
    bytes = 0
    if (filled) bytes = int(z'3fff3fff3fff3fff', 8)
    x = value * one
    call co_reduce(x, sum10_of_values)
    if (abs(x - n * value) > 1e-15_10) error stop 'unused bytes of a value'
    bytes = 0
    if (filled) bytes = int(z'3fff3fff3fff3fff', 8)
    z%re = value * one
    z%im = value * one
    call co_reduce(z, addc10)
    if (abs(z - n * value * (1, 1)) > 1e-15_10) error stop 'unused bytes of complex(10)'
  end subroutine
  integer function ior_to(k) result(r)
    integer, intent(in) :: k
    integer :: j
    r = 0
    do j = 1, k
      r = ior(r, j)
    end do
  end function
  pure integer(1) function or1(a, b)
    integer(1), intent(in) :: a, b
    or1 = ior(a, b)
  end function
  pure integer(2) function or2(a, b)
    integer(2), intent(in) :: a, b
    or2 = ior(a, b)
  end function
  pure integer function max4(a, b)
    integer, intent(in) :: a, b
    max4 = max(a, b)
  end function
  pure integer function sum_of_values(a, b)
    integer, value :: a, b
    sum_of_values = a + b
  end function
  pure integer(8) function product8(a, b)
    integer(8), intent(in) :: a, b
    product8 = a * b
  end function
  pure integer(16) function add16(a, b)
    integer(16), intent(in) :: a, b
    add16 = a + b
  end function
  pure real(4) function addr4(a, b)
    real(4), intent(in) :: a, b
    addr4 = a + b
  end function
  pure real(8) function addr8(a, b)
    real(8), intent(in) :: a, b
    addr8 = a + b
  end function
  pure real(10) function sum10_of_values(a, b)
    real(10), value :: a, b
    sum10_of_values = a + b
  end function
  pure real(16) function sum16_of_values(a, b)
    real(16), value :: a, b
    sum16_of_values = a + b
  end function
  pure complex(16) function sumc16_of_values(a, b)
    complex(16), value :: a, b
    sumc16_of_values = a + b
  end function
  pure real(16) function addr16(a, b)
    real(16), intent(in) :: a, b
    addr16 = a + b
  end function
  pure real(10) function addr10(a, b)
    real(10), intent(in) :: a, b
    addr10 = a + b
  end function
  pure complex(10) function addc10(a, b)
    complex(10), intent(in) :: a, b
    addc10 = a + b
  end function
  pure complex(16) function addc16(a, b)
    complex(16), intent(in) :: a, b
    addc16 = a + b
  end function
  pure complex(4) function addc4(a, b)
    complex(4), intent(in) :: a, b
    addc4 = a + b
  end function
  pure complex(8) function addc8(a, b)
    complex(8), intent(in) :: a, b
    addc8 = a + b
  end function
  pure logical function both(a, b)
    logical, intent(in) :: a, b
    both = a .and. b
  end function
  pure function later(a, b) result(r)
    character(6), intent(in) :: a, b
    character(6) :: r
    r = merge(a, b, lge(a, b))
  end function
  pure type(pair) function larger(a, b)
    type(pair), intent(in) :: a, b
    if (a%value >= b%value) then
      larger = a
    else
      larger = b
    end if
  end function
end program
