# Cross-compilation for Linux on riscv64 with Debian's compilers: cmake --toolchain cmake/toolchains/riscv64.cmake
# Programs run under qemu-user, if that is installed. Other compilers: copy this file.
# SPDX-License-Identifier: BSD-3-Clause
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(ARMCI_GOARCH riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
find_program(ARMCI_CROSS_FORTRAN riscv64-linux-gnu-gfortran)
if(ARMCI_CROSS_FORTRAN)
  set(CMAKE_Fortran_COMPILER ${ARMCI_CROSS_FORTRAN})
endif()
