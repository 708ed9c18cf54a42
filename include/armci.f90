! SPDX-License-Identifier: BSD-3-Clause
!
! armci.f90: the Fortran interface of libarmci, in the files of armci-fortran by subject. It must
! hold constants and interfaces only, never code: `use armci` needs armci.mod at compile time and
! -larmci at link time, and no object file. Meaning, completion, scope, thread rule and errors of
! every procedure are those of the C function of the same name, documented in armci.h, message.h,
! armcix.h and gpc.h. docs/fortran.md explains, with a table of all names.
!
! How C becomes Fortran here
!   remote address   integer(armci_addr), counting bytes: element i of 8-byte numbers is
!                    addr + 8 * (i - 1). It is what armci_malloc gives. Own (or any node-local)
!                    memory becomes an array by
!                    call c_f_pointer(transfer(addr, c_null_ptr), array, [n]).
!   local buffer     any contiguous variable, array or array element of any type; its address is
!                    taken. A buffer of a nonblocking call should have the asynchronous or target
!                    attribute until armci_wait. Do not pass a type(c_ptr) (its own address would be
!                    taken) nor an array section with gaps.
!   sizes            bytes, as in C: storage_size(x) / 8 for one element. Strides in bytes, count(1)
!                    in bytes.
!   ranks            from 0, as in C.
!   literals         8_c_int, 800_c_long (allocation sizes are c_long).
!   int, long        integer(c_int), integer(c_long), with any default integer of the program.
!   null             an argument that C may be given a null pointer for is left out.
!   int functions    functions that return 0 for success; void functions are subroutines.
!   text             ends in c_null_char; the operators of reductions are the constants armci_op_*.
!
! The module is for the classic ABI (libarmci.so.0); those for ARMCI-MPI's are in armci-mpi/openmpi
! and armci-mpi/mpich. Another compiler than gfortran: compile this file once, `FC -c armci.f90`,
! and use the .mod file that it writes.
module armci
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_float, c_funptr, c_int, c_int32_t, &
    c_int64_t, c_intptr_t, c_long, c_long_long, c_null_char, c_ptr, c_size_t
  implicit none
  private :: c_char, c_double, c_float, c_funptr, c_int, c_int32_t, c_int64_t, c_intptr_t, c_long, &
    c_long_long, c_null_char, c_ptr, c_size_t

  include 'armci-fortran/constants.inc'
  include 'armci-fortran/classic.inc'
  include 'armci-fortran/types.inc'
  include 'armci-fortran/life.inc'
  include 'armci-fortran/memory.inc'
  include 'armci-fortran/transfer.inc'
  include 'armci-fortran/nonblocking.inc'
  include 'armci-fortran/vector.inc'
  include 'armci-fortran/value.inc'
  include 'armci-fortran/order.inc'
  include 'armci-fortran/groups.inc'
  include 'armci-fortran/strided.inc'
  include 'armci-fortran/messages.inc'
  include 'armci-fortran/reductions.inc'
  include 'armci-fortran/ranks.inc'
  include 'armci-fortran/ranks-node.inc'
  include 'armci-fortran/ranks-group.inc'
  include 'armci-fortran/gpc.inc'
  include 'armci-fortran/checkpoint.inc'
  include 'armci-fortran/integer-handles.inc'
  include 'armci-fortran/integer-groups.inc'
end module armci
