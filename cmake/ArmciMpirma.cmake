# libarmci-mpirma.so: the library that is preloaded into MPI programs and carries their one-sided
# communication. One binary serves all MPIs; it must not be linked against any, nor against
# libarmci. No program links it, so its soname has no version.
# SPDX-License-Identifier: BSD-3-Clause

set(ARMCI_MPIRMA ${ARMCI_LIBDIR_classic}/libarmci-mpirma.so)
file(GLOB ARMCI_MPIRMA_DOOR ${PROJECT_SOURCE_DIR}/mpirma/*.go)
if(NOT ARMCI_MPIRMA_DOOR)
  message(STATUS "no mpirma/*.go: libarmci-mpirma.so is not built")
  return()
endif()
armci_go_library(armci_mpirma OUTPUT ${ARMCI_MPIRMA} PACKAGE ./mpirma SONAME libarmci-mpirma.so
  MAP ${PROJECT_SOURCE_DIR}/mpirma/libarmci-mpirma.map)
