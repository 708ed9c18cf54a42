! SPDX-License-Identifier: BSD-3-Clause
! Prints the constants of the Fortran module, and the sizes and offsets of its types, one per line,
! to be compared with what constants.c prints from the headers of the same ABI. It calls nothing and
! links with nothing.
program constants
  use, intrinsic :: iso_c_binding
  use armci
  implicit none
  type(armci_hdl_t) :: handle
  type(armci_group) :: group
  type(armci_giov_t), target :: giov
  type(armci_meminfo_t), target :: meminfo
  type(armcix_event_t), target :: event
  type(stride_info_t) :: sinfo
  type(gpc_hdl_t), target :: call
  type(armci_ckpt_ds_t), target :: ckpt

  print '(i0)', armci_swap, armci_swap_long, armci_fetch_and_add, armci_fetch_and_add_long
  print '(i0)', armcix_add, armcix_and, armcix_or, armcix_xor, armcix_swap, armcix_cas
  print '(i0)', armci_acc_int, armci_acc_dbl, armci_acc_flt, armci_acc_cpl, armci_acc_dcp, &
    armci_acc_lng
  print '(i0)', armci_int, armci_long, armci_long_long, armci_float, armci_double
  print '(i0)', armci_scope_all, armci_scope_node, armci_scope_masters
  print '(i0)', armci_max_stride_level, armci_domain_smp
  print '(i0)', gpc_init, gpc_probe, gpc_wait, gpc_done, gpc_pending, armci_ckpt_saved, &
    armci_restart
  print '(i0)', armci_fail, armci_fail2, armci_fail3, armci_fail4, armci_fail5, armci_fail6, &
    armci_fail7, armci_fail8

  print '(i0)', storage_size(0_armci_addr) / 8, storage_size(0_armci_comm) / 8
  print '(i0)', c_sizeof(handle), c_sizeof(group), c_sizeof(giov), c_sizeof(meminfo), &
    c_sizeof(event), c_sizeof(sinfo), c_sizeof(call), c_sizeof(ckpt)

  print '(i0)', offset(c_loc(giov), c_loc(giov%src_ptr_array)), &
    offset(c_loc(giov), c_loc(giov%dst_ptr_array)), &
    offset(c_loc(giov), c_loc(giov%ptr_array_len)), offset(c_loc(giov), c_loc(giov%bytes))
  print '(i0)', offset(c_loc(meminfo), c_loc(meminfo%armci_addr)), &
    offset(c_loc(meminfo), c_loc(meminfo%addr)), &
    offset(c_loc(meminfo), c_loc(meminfo%size)), offset(c_loc(meminfo), c_loc(meminfo%cpid))
  print '(i0)', offset(c_loc(event), c_loc(event%count)), &
    offset(c_loc(event), c_loc(event%sleepers))
  print '(i0)', offset(c_loc(call), c_loc(call%proc))
  print '(i0)', offset(c_loc(ckpt), c_loc(ckpt%ptr_arr)), offset(c_loc(ckpt), c_loc(ckpt%sz)), &
    offset(c_loc(ckpt), c_loc(ckpt%saveonce)), offset(c_loc(ckpt), c_loc(ckpt%count))

contains

  ! Bytes from one address to another.
  pure function offset(from, to)
    type(c_ptr), intent(in) :: from, to
    integer(armci_addr) :: offset
    offset = transfer(to, 0_armci_addr) - transfer(from, 0_armci_addr)
  end function offset
end program constants
