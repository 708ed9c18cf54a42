! SPDX-License-Identifier: BSD-3-Clause
! How a Fortran program uses the module, in either ABI: buffers of any type and rank, remote
! addresses as integers, handles and groups as types, generics by type and rank, arguments left out
! where C takes null. It is compiled with every warning as an error, never linked or run.
program usage
  use, intrinsic :: iso_c_binding
  use armci
  implicit none
  integer(armci_addr) :: addrs(0:63)
  integer(c_int) :: rc, me, ticket, counts(2), strides(1)
  integer(c_long) :: long_ticket
  type(armci_hdl_t) :: handle
  type(armci_group) :: group, part
  type(armci_meminfo_t) :: meminfo
  type(gpc_hdl_t) :: pending
  real(c_double), asynchronous :: patch(10, 10)
  real(c_double), pointer :: own(:)
  real(c_float) :: sums(3), sum, table(2, 3), cube(2, 2, 2)
  complex(c_double_complex) :: z
  character(len=5) :: text

  call armci_msg_init(c_null_ptr, c_null_ptr)
  rc = armci_init()
  me = armci_msg_me()
  rc = armci_malloc(addrs, 800_c_long) + &
    armci_malloc_memdev(addrs, 800_c_long, 'rdma-atomics' // c_null_char)
  call c_f_pointer(transfer(addrs(me), c_null_ptr), own, [100])
  own = 0
  counts = [40_c_int, 5_c_int]
  strides = [80_c_int]
  rc = armci_put(patch, addrs(0), 800_c_int, 0_c_int)
  rc = armci_put(patch(3, 4), addrs(0) + 8 * 17, 8_c_int, 0_c_int)
  rc = armci_get(addrs(0), text, 5_c_int, 0_c_int) + armci_get(addrs(0), z, 16_c_int, 0_c_int)
  rc = armci_acc(armci_acc_dbl, 2.0_c_double, patch, addrs(0), 800_c_int, 0_c_int)
  rc = armci_puts(patch(2, 2), strides, addrs(0), strides, counts, 1_c_int, 0_c_int)
  call armci_init_handle(handle)
  rc = armci_nbget(addrs(0), patch, 800_c_int, 0_c_int, handle) + &
    armci_nbget(addrs(0), patch, 800_c_int, 0_c_int)
  rc = armci_wait(handle) + armci_waitall()
  rc = armci_putvalue(1.5_c_double, addrs(0), 0_c_int) + armci_putvalue(1_c_long, addrs(0), 0_c_int)
  rc = armci_nbputvalue(1.5_c_float, addrs(0), 0_c_int, handle) + &
    armci_nbputvalue(1_c_int, addrs(0), 0_c_int)
  rc = armci_rmw(armci_fetch_and_add, ticket, addrs(0), 1_c_int, 0_c_int)
  rc = armci_rmw(armci_fetch_and_add_long, long_ticket, addrs(0), 1_c_int, 0_c_int)
  rc = armcix_atomic(armcix_or, 4_c_int, ticket, addrs(0), 1_c_int, proc=0_c_int)
  rc = armcix_atomic(armcix_cas, 8_c_int, long_ticket, addrs(0), 1_c_int64_t, 0_c_int64_t, 0_c_int)
  rc = armcix_atomic(armcix_add, 8_c_int, remote=addrs(0), operand=1_c_int64_t, proc=0_c_int)
  call armci_group_get_world(group)
  rc = armcix_group_split(group, 0_c_int, 0_c_int, part)
  call armci_groupfence()
  call armci_groupfence(part)
  call armci_msg_gop(sums, 3_c_int, armci_op_absmax)
  call armci_msg_gop(sum, 1_c_int, armci_op_sum)
  call armci_msg_group_gop(table, 6_c_int, armci_op_sum, part)
  call armci_msg_clus_gop(cube, 8_c_int, armci_op_sum)
  call armci_msg_bcast(patch, 800_c_int, 0_c_int)
  call armci_msg_rcv(1_c_int, text, 5_c_int, from=0_c_int)
  call armci_memget(80_c_size_t, meminfo, 0_c_int)
  call armci_msg_bcast(meminfo, int(c_sizeof(meminfo), c_int), 0_c_int)
  rc = armci_gpc_exec(1_c_int, 0_c_int, text, 5_c_int, patch, 8_c_int, text, 5_c_int, patch, &
    8_c_int, pending)
  rc = armci_gpc_exec(1_c_int, 0_c_int, text, 5_c_int, patch, 8_c_int, text, 5_c_int, patch, &
    8_c_int)
  if (rc /= 0) call armci_error('no luck' // c_null_char, 3_c_int)
  rc = armci_free(addrs(me)) + armci_finalize()
  call armci_msg_finalize()
end program usage
