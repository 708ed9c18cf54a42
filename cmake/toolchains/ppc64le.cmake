# Cross-compilation for Linux on ppc64le with Debian's compilers: cmake --toolchain cmake/toolchains/ppc64le.cmake
# Programs run under qemu-user, if that is installed. Other compilers: copy this file.
# SPDX-License-Identifier: BSD-3-Clause
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ppc64le)
set(ARMCI_GOARCH ppc64le)
set(CMAKE_C_COMPILER powerpc64le-linux-gnu-gcc)
find_program(ARMCI_CROSS_FORTRAN powerpc64le-linux-gnu-gfortran)
if(ARMCI_CROSS_FORTRAN)
  set(CMAKE_Fortran_COMPILER ${ARMCI_CROSS_FORTRAN})
endif()
