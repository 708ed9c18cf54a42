! SPDX-License-Identifier: BSD-3-Clause
! scopes.f90 - groups, messages and reductions within groups, nodes and scopes from Fortran, results
! checked. What each call means in detail is tested in C; here only the binding, with groups as
! types, so that it is right for both ABIs.
include 'checks.inc'
program scopes
  use, intrinsic :: iso_c_binding
  use armci
  use checks
  implicit none
  type(armci_group) :: world, parity
  integer(c_int) :: near, lowest, masters, i

  call start(8)
  near = count([(armci_same_node(i) == 1, i=0, np - 1)]) ! ranks of the own node
  lowest = findloc([(armci_same_node(i) == 1, i=0, np - 1)], .true., 1) - 1
  masters = merge(1, 0, lowest == me)
  call armci_msg_gop(masters, 1, armci_op_sum)
  call armci_group_get_world(world)
  call check(armcix_group_split(world, mod(me, 2), me, parity), 'armcix_group_split')
  call groups()
  call group_memory()
  call group_messages()
  call scoped_messages()
  call by_rank()
  call with_type()
  call addresses()
  call armci_group_free(parity)
  call finish('scopes')

contains

  subroutine groups()
    type(armci_group) :: twin, before, pair
    integer(c_int) :: rank, size
    call check(armci_group_rank(parity, rank), 'armci_group_rank')
    call armci_group_size(parity, size)
    call equal(rank, me / 2, 'the rank after the split')
    call equal(size, (np + 1 - mod(me, 2)) / 2, 'the size after the split')
    call equal(armci_absolute_id(parity, size - 1), 2 * (size - 1) + mod(me, 2), &
      'armci_absolute_id')
    call check(armcix_group_dup(parity, twin), 'armcix_group_dup')
    call armci_group_size(twin, rank)
    call equal(rank, size, 'the size of the duplicate')
    call armci_group_get_default(before)
    call armci_group_set_default(twin)
    call armci_group_create(1, [size - 1], pair) ! a rank in the default group
    call armci_group_set_default(before)
    if (me == armci_absolute_id(parity, size - 1)) then
      call check(armci_group_rank(pair, rank), 'armci_group_rank in the default group')
      call equal(rank, 0, 'armci_group_create in the default group')
    else
      call equal(armci_group_rank(pair, rank), 1, 'armci_group_rank of a non-member')
    end if
    call armci_group_free(pair)
    call armci_group_free(twin)
    call equal(armci_uses_shm_grp(world), armci_uses_shm(), 'armci_uses_shm_grp')
    call equal(armci_uses_shm(), merge(1, 0, near > 1), 'armci_uses_shm')
  end subroutine groups

  ! Each member puts its rank at the next one.
  subroutine group_memory()
    integer(armci_addr) :: part(0:np - 1)
    integer(c_int) :: rank, size, to
    i = armci_group_rank(parity, rank)
    call armci_group_size(parity, size)
    call check(armci_malloc_group(part, 8_c_long, parity), 'armci_malloc_group')
    to = mod(rank + 1, size)
    call check(armci_putvalue(me, part(to), armci_absolute_id(parity, to)), 'armci_putvalue')
    call armci_groupfence(parity)
    call armci_groupfence()
    call armci_msg_group_barrier(parity)
    call equal(armci_getvalueint(part(rank), me), &
      armci_absolute_id(parity, mod(rank + size - 1, size)), 'memory of the group')
    call check(armci_free_group(part(rank), parity), 'armci_free_group')
    call check(armci_malloc_group_memdev(part, 8_c_long, parity), 'armci_malloc_group_memdev')
    call check(armci_free_group(part(rank), parity), 'armci_free_group')
  end subroutine group_memory

  subroutine group_messages()
    integer(c_int) :: size, x, pair(2), table(2, 2), cube(1, 2, 2)
    integer(c_long_long) :: big(1)
    real(c_double) :: d(3), last
    call armci_group_size(parity, size)
    x = 1
    call armci_msg_group_gop(x, 1, armci_op_sum, parity)
    call equal(x, size, 'a scalar over a group')
    pair = [me, -me]
    call armci_msg_group_gop(pair, 2, armci_op_max, parity)
    call equal(pair(2), -mod(me, 2), 'an array over a group')
    table = me
    call armci_msg_group_gop(table, 4, armci_op_min, parity)
    call equal(table(2, 2), mod(me, 2), 'a table over a group')
    cube = 2
    call armci_msg_group_gop_scope(armci_scope_all, cube, 4, armci_op_sum, armci_int, parity)
    call equal(cube(1, 2, 2), 2 * size, 'an array of any rank over a group')
    d = 0.5d0
    call armci_msg_group_gop(d, 3, armci_op_sum, parity)
    call equal(d(3), 0.5d0 * size, 'doubles over a group')
    big = 2_c_long_long**40
    call armci_msg_group_llgop(big, 1, armci_op_sum, parity)
    call equal(int(big(1) / 2_c_long_long**40, c_int), size, 'long longs over a group')
    last = me
    call armci_msg_group_bcast_scope(armci_scope_all, last, 8, &
      armci_absolute_id(parity, size - 1), parity)
    call equal(last, real(armci_absolute_id(parity, size - 1), c_double), 'a broadcast in a group')
    last = me
    call armci_grp_clus_brdcst(last, 8, 0, size, parity)
    call equal(last, real(mod(me, 2), c_double), 'a broadcast among members')
  end subroutine group_messages

  subroutine scoped_messages()
    integer(c_int) :: x, got(1), one
    real(c_double) :: d
    x = me
    call armci_msg_bcast_scope(armci_scope_node, x, 4, 0)
    call equal(x, lowest, 'a broadcast in a node')
    x = me
    call armci_msg_clus_brdcst(x, 4)
    call equal(x, lowest, 'a broadcast to a node')
    x = me
    call armci_msg_brdcst(x, 4, np - 1)
    call equal(x, np - 1, 'a broadcast')
    one = 1
    call armci_msg_clus_gop(one, 1, armci_op_sum)
    call equal(one, near, 'the ranks of a node')
    d = 1
    call armci_msg_gop_scope(armci_scope_masters, d, 1, armci_op_sum, armci_double)
    call equal(d, merge(real(masters, c_double), 1.0d0, lowest == me), 'a sum over nodes')
    call armci_msg_bintree(armci_scope_all, x, one, got(1), i)
    call equal(x, 0, 'the root of the tree')
    if (me == 0) call equal(one, -1, 'above the root')
    call armci_msg_snd(3, me, 4, right)
    call armci_msg_rcv(3, x, 4, from=left)
    call equal(x, left, 'a message without its length')
    call armci_msg_snd(4, me, 4, right)
    call equal(armci_msg_rcvany(4, got, 4), left, 'the sender of a message')
    call equal(got(1), left, 'a message from anybody')
    call armci_msg_barrier()
  end subroutine scoped_messages

  ! One generic name for types and ranks.
  subroutine by_rank()
    integer(c_long) :: l, l1(2), l2(1, 2), l3(1, 1, 2)
    real(c_float) :: f, f2(2, 1)
    real(c_double) :: d, d3(2, 1, 1), d4(1, 1, 1, 2)
    l = me
    l1 = me
    l2 = me
    l3 = me
    call armci_msg_gop(l, 1, armci_op_sum)
    call armci_msg_gop(l1, 2, armci_op_sum)
    call armci_msg_gop(l2, 2, armci_op_sum)
    call armci_msg_gop(l3, 2, armci_op_sum)
    call equal(l, np * (np - 1_c_long) / 2, 'a scalar')
    call true(all([l1(1), l1(2), l2(1, 2), l3(1, 1, 2)] == l), 'the ranks of an array')
    f = 2
    f2 = me
    call armci_msg_gop(f, 1, armci_op_prod)
    call equal(real(f, c_double), 2.0d0**np, 'a product')
    call armci_msg_gop(f2, 2, armci_op_max)
    call equal(real(f2(2, 1), c_double), np - 1.0d0, 'a maximum')
    d = -me
    d3 = -me
    d4 = me
    call armci_msg_gop(d, 1, armci_op_min)
    call armci_msg_gop(d3, 2, armci_op_absmax)
    call armci_msg_dgop(d4, 2, armci_op_sum) ! the name with a type takes any rank
    call equal(d, 1.0d0 - np, 'a minimum')
    call equal(d3(2, 1, 1), np - 1.0d0, 'a greatest absolute value')
    call equal(d4(1, 1, 1, 2), real(l, c_double), 'four dimensions')
  end subroutine by_rank

  subroutine with_type()
    integer(c_int) :: bits(2)
    real(c_double) :: best(2)
    complex(c_double_complex) :: z
    z = (1.0d0, 2.0d0)
    call armci_msg_gop_scope(armci_scope_all, z, 2, armci_op_sum, armci_double)
    call equal(abs(z - np * (1.0d0, 2.0d0)), 0.0d0, 'the sum of complex numbers')
    bits = ibset(0, me)
    call armci_msg_reduce(bits, 2, armci_op_bor, armci_int)
    if (me == 0) call equal(bits(2), 2**np - 1, 'armci_msg_reduce')
    bits = 1
    call armci_msg_reduce_scope(armci_scope_node, bits, 2, armci_op_sum, armci_int)
    if (me == lowest) call equal(bits(2), near, 'armci_msg_reduce_scope')
    best = [real(me, c_double), 100.0d0 + me]
    call armci_msg_sel(best, 16, armci_op_max, armci_double, 1)
    call equal(best(2), 99.0d0 + np, 'armci_msg_sel')
    best = [real(me, c_double), 100.0d0 + me]
    call armci_msg_sel_scope(armci_scope_node, best, 16, armci_op_min, armci_double, 1)
    call equal(best(2), 100.0d0 + lowest, 'armci_msg_sel_scope')
  end subroutine with_type

  ! Every rank learns what every other one calls its own.
  subroutine addresses()
    integer(armci_addr) :: all_of(0:np - 1), part(0:np - 1)
    integer(c_int) :: rank, size
    all_of = 0
    all_of(me) = 1000 + me
    call armci_exchange_address(all_of, np)
    call true(all(all_of == [(1000 + i, i=0, np - 1)]), 'armci_exchange_address')
    i = armci_group_rank(parity, rank)
    call armci_group_size(parity, size)
    part = 0
    part(rank) = me + 1
    call armci_exchange_address_grp(part, size, parity)
    call equal(part(0), mod(me, 2) + 1_armci_addr, 'armci_exchange_address_grp, the first')
    call equal(part(size - 1), armci_absolute_id(parity, size - 1) + 1_armci_addr, &
      'armci_exchange_address_grp, the last')
  end subroutine addresses
end program scopes
