! SPDX-License-Identifier: BSD-3-Clause
! one_sided.f90 - put, get, accumulate, strided patches, single values and nonblocking calls from
! Fortran through the module armci, results checked. What each call means in detail is tested in C;
! here only the binding.
include 'checks.inc'
program one_sided
  use, intrinsic :: iso_c_binding
  use armci
  use checks
  implicit none
  integer, parameter :: n = 100, m = 40
  real(c_double), pointer :: mine(:, :)

  call start(n * m * 8)
  call c_f_pointer(transfer(addr(me), c_null_ptr), mine, [n, m])
  call contiguous()
  call strided()
  call accumulate()
  call values()
  call nonblocking()
  call finish('one_sided')

contains

  subroutine contiguous()
    real(c_double) :: column(n), back(n)
    integer :: i
    column = [(1000.0d0 * me + i, i=1, n)]
    call check(armci_put(column, addr(right), n * 8, right), 'armci_put')
    call armci_barrier()
    do i = 1, n
      call equal(mine(i, 1), 1000.0d0 * left + i, 'put')
    end do
    call check(armci_get(addr(right), back, n * 8, right), 'armci_get')
    do i = 1, n
      call equal(back(i), column(i), 'get')
    end do
    call armci_barrier()
  end subroutine contiguous

  ! A patch of 5 rows and 7 columns into the middle of the neighbour's matrix.
  subroutine strided()
    real(c_double) :: patch(5, 7), back(5, 7)
    integer(c_int) :: count(2), there(1), here(1)
    integer(armci_addr) :: at
    integer :: i, j
    mine = -1
    call armci_barrier()
    count = [5 * 8, 7]
    there = n * 8
    here = 5 * 8
    do j = 1, 7
      do i = 1, 5
        patch(i, j) = 100 * me + 10 * i + j
      end do
    end do
    at = addr(right) + 8 * ((11 - 1) * n + (21 - 1)) ! element (21, 11)
    call check(armci_puts(patch, here, at, there, count, 1, right), 'armci_puts')
    call check(armci_gets(at, there, back, here, count, 1, right), 'armci_gets')
    call armci_barrier()
    do j = 1, 7
      do i = 1, 5
        call equal(mine(20 + i, 10 + j), 100.0d0 * left + 10 * i + j, 'strided put')
        call equal(back(i, j), patch(i, j), 'strided get')
      end do
    end do
    call equal(mine(20, 11), -1.0d0, 'row above')
    call equal(mine(26, 17), -1.0d0, 'row below')
    call armci_barrier()
  end subroutine strided

  subroutine accumulate()
    complex(c_double_complex) :: z(2), factor, sum(2)
    real(c_double) :: ones(n)
    integer :: i
    mine = 0
    call armci_barrier()
    ones = 1
    call check(armci_acc(armci_acc_dbl, 0.5d0, ones, addr(0), n * 8, 0), 'armci_acc')
    z = [(1.0d0, 2.0d0), (3.0d0, -1.0d0)]
    factor = (0.0d0, 1.0d0)
    call check(armci_acc(armci_acc_dcp, factor, z, addr(0) + n * 8, 32, 0), 'armci_acc')
    call armci_barrier()
    if (me == 0) then
      do i = 1, n
        call equal(mine(i, 1), 0.5d0 * np, 'accumulate')
      end do
      sum = [cmplx(mine(1, 2), mine(2, 2), c_double), cmplx(mine(3, 2), mine(4, 2), c_double)]
      call equal(abs(sum(1) - np * factor * z(1)), 0.0d0, 'complex accumulate')
      call equal(abs(sum(2) - np * factor * z(2)), 0.0d0, 'complex accumulate')
    end if
    call armci_barrier()
  end subroutine accumulate

  subroutine values()
    call check(armci_putvalue(2.5d0 + me, addr(right), right), 'armci_putvaluedouble')
    call check(armci_putvalue(70_c_int + me, addr(right) + 8, right), 'armci_putvalueint')
    call equal(armci_getvaluedouble(addr(right), right), 2.5d0 + me, 'double value')
    call equal(real(armci_getvalueint(addr(right) + 8, right), c_double), 70.0d0 + me, 'int value')
    call armci_barrier()
  end subroutine values

  subroutine nonblocking()
    real(c_double), asynchronous :: out(n), in(n)
    integer(c_int) :: handle(2)
    integer :: i
    out = [(me * 1.0d3 - i, i=1, n)]
    in = 0
    handle = -1234567
    call check(armci_nbput(out, addr(right), n * 8, right, handle(1)), 'armci_nbput')
    call check(armci_wait(handle(1)), 'armci_wait')
    call check(armci_nbget(addr(right), in, n * 8, right, handle(2)), 'armci_nbget')
    call check(armci_wait(handle(2)), 'armci_wait')
    call check(armci_waitall(), 'armci_waitall')
    do i = 1, n
      call equal(in(i), out(i), 'nonblocking')
    end do
    call armci_barrier()
  end subroutine nonblocking
end program one_sided
