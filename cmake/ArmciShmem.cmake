# OpenSHMEM: libshmem_armci.so.0 and libshmem_armci.a, in C over libarmci.so.0, which it finds
# beside itself; its headers, in a directory of their own, since another SHMEM may be installed.
# The commands armci-oshcc, armci-oshc++ and armci-oshrun are made in ArmciInstall.cmake. It must
# see the public headers only.
# SPDX-License-Identifier: BSD-3-Clause

if(NOT TARGET armci_classic)
  message(STATUS "no libarmci: libshmem_armci is not built")
  return()
endif()
set(ARMCI_SHMEM_HEADERS shmem.h shmem_types.h shmem_calls.h shmem_generic.h shmemx.h pshmem.h
  mpp/shmem.h mpp/shmemx.h)
set(ARMCI_SHMEM_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR}/armci-shmem)
armci_client(shmem LIBRARIES m ${CMAKE_DL_LIBS})
