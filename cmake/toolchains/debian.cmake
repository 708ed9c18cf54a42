# What the files for Debian's cross-compilers have in common; included, not used by itself. For
# other compilers, copy the two together. Input: CMAKE_SYSTEM_PROCESSOR, ARMCI_GOARCH, and
# ARMCI_CROSS, what the compilers' names begin with.
# SPDX-License-Identifier: BSD-3-Clause
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${ARMCI_CROSS}-gcc)
find_program(ARMCI_CROSS_FORTRAN ${ARMCI_CROSS}-gfortran)
if(ARMCI_CROSS_FORTRAN)
  set(CMAKE_Fortran_COMPILER ${ARMCI_CROSS_FORTRAN})
endif()
