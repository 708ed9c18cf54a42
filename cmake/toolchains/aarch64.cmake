# Cross-compilation for Linux on aarch64 with Debian's compilers:
# cmake --toolchain cmake/toolchains/aarch64.cmake
# SPDX-License-Identifier: BSD-3-Clause
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(ARMCI_GOARCH arm64)
set(ARMCI_CROSS aarch64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
