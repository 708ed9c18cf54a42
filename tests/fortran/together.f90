! SPDX-License-Identifier: BSD-3-Clause
! together.f90 - counters, mutexes, groups, messages and reductions from Fortran through the module
! armci, results checked. Transfers are in one_sided.f90.
include 'checks.inc'
program together
  use, intrinsic :: iso_c_binding
  use armci
  use checks
  implicit none
  integer(c_long), pointer :: mine(:)

  call start(64)
  call c_f_pointer(transfer(addr(me), c_null_ptr), mine, [8])
  mine = 0
  call armci_barrier()
  call counter()
  call mutex()
  call groups()
  call messages()
  call reductions()
  call finish('together')

contains

  subroutine counter()
    integer(c_long) :: old, sum(1)
    integer(c_int) :: small
    integer :: i
    sum = 0
    do i = 1, 500
      call check(armci_rmw(armci_fetch_and_add_long, old, addr(0), 1, 0), 'armci_rmw')
      sum = sum + old
      call check(armci_rmw(armci_fetch_and_add, small, addr(0) + 8, 2, 0), 'armci_rmw')
    end do
    call armci_barrier()
    call armci_msg_gop(sum, 1, armci_op_sum)
    call equal(sum(1), 500_c_long * np * (500_c_long * np - 1) / 2, 'the sum of tickets')
    call equal(int(armci_getvalueint(addr(0) + 8, 0), c_long), 1000_c_long * np, 'the int counter')
    call armci_barrier()
  end subroutine counter

  subroutine mutex()
    integer(c_long) :: v(1)
    integer :: i
    call check(armci_create_mutexes(2), 'armci_create_mutexes')
    do i = 1, 200
      call armci_lock(1, 0)
      call check(armci_get(addr(0) + 16, v, 8, 0), 'armci_get')
      v = v + 1
      call check(armci_put(v, addr(0) + 16, 8, 0), 'armci_put')
      call armci_unlock(1, 0)
    end do
    call armci_barrier()
    call equal(armci_getvaluelong(addr(0) + 16, 0), 200_c_long * np, 'the guarded number')
    call check(armci_destroy_mutexes(), 'armci_destroy_mutexes')
  end subroutine mutex

  subroutine groups()
    integer(c_int) :: group, rank, size, i
    integer(c_int) :: list((np + 1) / 2)
    integer(armci_addr), allocatable :: part(:)
    list = [(i, i=0, np - 1, 2)]
    call armci_group_create((np + 1) / 2, list, group)
    if (mod(me, 2) /= 0) return
    call check(armci_group_rank(group, rank), 'armci_group_rank')
    call armci_group_size(group, size)
    call equal(int(rank, c_long), int(me / 2, c_long), 'the rank in the group')
    call equal(int(size, c_long), int((np + 1) / 2, c_long), 'the size of the group')
    call equal(int(armci_absolute_id(group, size - 1), c_long), int(2 * (size - 1), c_long), &
      'absolute_id')
    allocate (part(0:size - 1))
    call check(armci_malloc_group(part, 8_c_long, group), 'armci_malloc_group')
    call check(armci_putvalue(int(me, c_long), part(rank), me), 'armci_putvaluelong')
    call equal(armci_getvaluelong(part(rank), me), int(me, c_long), 'memory of the group')
    call check(armci_free_group(part(rank), group), 'armci_free_group')
    call armci_group_free(group)
  end subroutine groups

  subroutine messages()
    integer(c_int) :: out(3), in(3), got
    call armci_msg_barrier()
    out = [me, me * 2, 7]
    call armci_msg_snd(5, out, 12, mod(me + 1, np))
    call armci_msg_rcv(5, in, 12, got, mod(me + np - 1, np))
    call equal(int(got, c_long), 12_c_long, 'the length of a message')
    call equal(int(in(1), c_long), int(mod(me + np - 1, np), c_long), 'a message')
    out = me
    call armci_msg_bcast(out, 12, np - 1)
    call equal(int(out(3), c_long), int(np - 1, c_long), 'a broadcast')
  end subroutine messages

  subroutine reductions()
    integer(c_int) :: i(2)
    real(c_double) :: d(1)
    real(c_float) :: f(1)
    i = [me, -me]
    call armci_msg_gop(i, 2, armci_op_min)
    call equal(int(i(2), c_long), int(1 - np, c_long), 'the minimum')
    d = -me - 0.5d0
    call armci_msg_gop(d, 1, armci_op_absmax)
    call equal(nint(2 * d(1), c_long), int(2 * np - 1, c_long), 'the greatest absolute value')
    f = 2
    call armci_msg_gop(f, 1, armci_op_prod)
    call equal(nint(f(1), c_long), 2_c_long**np, 'the product')
  end subroutine reductions
end program together
