! SPDX-License-Identifier: BSD-3-Clause
! How a Fortran program uses the module: buffers of any type and rank, remote addresses as integers, generics. It is
! compiled with every warning as an error, never linked or run.
program usage
  use, intrinsic :: iso_c_binding
  use armci
  implicit none
  integer(armci_addr) :: addrs(0:63)
  integer(c_int) :: rc, me, ticket, handle, group, counts(2), strides(1)
  integer(c_long) :: long_ticket
  real(c_double), asynchronous :: patch(10, 10)
  real(c_double), pointer :: own(:)
  real(c_float) :: sums(3)
  character(len=5) :: text

  call armci_msg_init(c_null_ptr, c_null_ptr)
  rc = armci_init()
  me = armci_msg_me()
  rc = armci_malloc(addrs, 800_c_long)
  call c_f_pointer(transfer(addrs(me), c_null_ptr), own, [100])
  own = 0
  counts = [40_c_int, 5_c_int]
  strides = [80_c_int]
  rc = armci_put(patch, addrs(0), 800_c_int, 0_c_int)
  rc = armci_put(patch(3, 4), addrs(0) + 8 * 17, 8_c_int, 0_c_int)
  rc = armci_get(addrs(0), text, 5_c_int, 0_c_int)
  rc = armci_acc(armci_acc_dbl, 2.0_c_double, patch, addrs(0), 800_c_int, 0_c_int)
  rc = armci_puts(patch(2, 2), strides, addrs(0), strides, counts, 1_c_int, 0_c_int)
  call armci_init_handle(handle)
  rc = armci_nbget(addrs(0), patch, 800_c_int, 0_c_int, handle)
  rc = armci_wait(handle)
  rc = armci_putvalue(1.5_c_double, addrs(0), 0_c_int) + armci_putvalue(1_c_long, addrs(0), 0_c_int)
  rc = armci_rmw(armci_fetch_and_add, ticket, addrs(0), 1_c_int, 0_c_int)
  rc = armci_rmw(armci_fetch_and_add_long, long_ticket, addrs(0), 1_c_int, 0_c_int)
  call armci_group_get_world(group)
  call armci_msg_gop(sums, 3_c_int, armci_op_absmax)
  call armci_msg_bcast(patch, 800_c_int, 0_c_int)
  if (rc /= 0) call armci_error('no luck' // c_null_char, 3_c_int)
  rc = armci_free(addrs(me)) + armci_finalize()
  call armci_msg_finalize()
end program usage
