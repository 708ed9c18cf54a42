! SPDX-License-Identifier: BSD-3-Clause
! Prints the constants of the Fortran module, one per line, to be compared with what constants.c prints from armci.h. It
! calls nothing and links with nothing.
program constants
  use armci
  implicit none
  print '(i0)', armci_swap, armci_swap_long, armci_fetch_and_add, armci_fetch_and_add_long
  print '(i0)', armci_acc_int, armci_acc_dbl, armci_acc_flt, armci_acc_cpl, armci_acc_dcp, armci_acc_lng
  print '(i0)', armci_max_stride_level, armci_domain_smp
  print '(i0)', armci_fail, armci_fail2, armci_fail3, armci_fail4, armci_fail5, armci_fail6, armci_fail7, armci_fail8
  print '(i0)', storage_size(0_armci_addr) / 8
end program constants
