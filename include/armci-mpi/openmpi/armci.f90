! SPDX-License-Identifier: BSD-3-Clause
!
! armci.f90 for the ABI of ARMCI-MPI (libarmci.so.1) with Open MPI: the module of ../../armci.f90
! with ARMCI-MPI's layouts of handles, groups and vector descriptors. It must hold constants and
! interfaces only. The rules are said there.
module armci
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_float, c_funptr, c_int, c_int32_t, &
    c_int64_t, c_intptr_t, c_long, c_long_long, c_null_char, c_ptr, c_size_t
  implicit none
  private :: c_char, c_double, c_float, c_funptr, c_int, c_int32_t, c_int64_t, c_intptr_t, c_long, &
    c_long_long, c_null_char, c_ptr, c_size_t

  include '../../armci-fortran/constants.inc'
  ! Kind of a communicator and of a request of C: pointers in Open MPI.
  integer, parameter :: armci_comm = c_intptr_t
  include '../../armci-fortran/armci-mpi.inc'
  include '../../armci-fortran/types.inc'
  include '../../armci-fortran/life.inc'
  include '../../armci-fortran/memory.inc'
  include '../../armci-fortran/transfer.inc'
  include '../../armci-fortran/nonblocking.inc'
  include '../../armci-fortran/vector.inc'
  include '../../armci-fortran/value.inc'
  include '../../armci-fortran/order.inc'
  include '../../armci-fortran/groups.inc'
  include '../../armci-fortran/strided.inc'
  include '../../armci-fortran/messages.inc'
  include '../../armci-fortran/reductions.inc'
  include '../../armci-fortran/ranks.inc'
  include '../../armci-fortran/ranks-node.inc'
  include '../../armci-fortran/ranks-group.inc'
  include '../../armci-fortran/gpc.inc'
  include '../../armci-fortran/checkpoint.inc'
end module armci
