# Cross-compilation for Linux on ppc64le with Debian's compilers:
# cmake --toolchain cmake/toolchains/ppc64le.cmake
# SPDX-License-Identifier: BSD-3-Clause
set(CMAKE_SYSTEM_PROCESSOR ppc64le)
set(ARMCI_GOARCH ppc64le)
set(ARMCI_CROSS powerpc64le-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
