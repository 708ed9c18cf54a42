# Cross-compilation for Linux on riscv64 with Debian's compilers:
# cmake --toolchain cmake/toolchains/riscv64.cmake
# SPDX-License-Identifier: BSD-3-Clause
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(ARMCI_GOARCH riscv64)
set(ARMCI_CROSS riscv64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
