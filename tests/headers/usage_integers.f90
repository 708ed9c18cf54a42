! SPDX-License-Identifier: BSD-3-Clause
! Programs from before type(armci_hdl_t) and type(armci_group): with the classic ABI both may be
! integers. It is compiled with every warning as an error, never linked or run.
program usage_integers
  use, intrinsic :: iso_c_binding
  use armci
  implicit none
  integer(armci_addr) :: addrs(0:63)
  integer(c_int) :: rc, handle, handles(2), group, child, n, counts(2), strides(1)
  real(c_double), asynchronous :: patch(10, 10)

  call armci_init_handle(handle)
  call armci_set_aggregate_handle(handle)
  rc = armci_nbput(patch, addrs(0), 800_c_int, 0_c_int, handle)
  rc = armci_nbget(addrs(0), patch(3, 4), 8_c_int, 0_c_int, handles(2))
  rc = armci_nbacc(armci_acc_dbl, 2.0_c_double, patch, addrs(0), 800_c_int, 0_c_int, handle)
  counts = [40_c_int, 5_c_int]
  strides = [80_c_int]
  rc = armci_nbputs(patch(2, 2), strides, addrs(0), strides, counts, 1_c_int, 0_c_int, handle)
  rc = armci_nbgets(addrs(0), strides, patch(2, 2), strides, counts, 1_c_int, 0_c_int, handle)
  rc = armci_nbaccs(armci_acc_dbl, 2.0_c_double, patch, strides, addrs(0), strides, counts, &
    1_c_int, 0_c_int, handle)
  rc = armci_wait(handle) + armci_test(handles(1))
  call armci_unset_aggregate_handle(handle)

  call armci_group_get_world(group)
  call armci_group_create(2_c_int, [0_c_int, 1_c_int], group)
  call armci_group_create_child(1_c_int, [0_c_int], child, group)
  call armci_group_size(group, n)
  rc = armci_group_rank(child, n) + armci_absolute_id(group, 1_c_int)
  rc = armci_malloc_group(addrs, 8_c_long, group) + armci_free_group(addrs(0), group)
  call armci_group_free(child)
end program usage_integers
