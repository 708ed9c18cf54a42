# The three libraries from one source: the classic ABI (soname libarmci.so.0) and the ABI of
# ARMCI-MPI (soname libarmci.so.1) once for Open MPI and once for MPICH: their communicator types
# differ in size. None of them may be linked against an MPI; tests/abi holds that.
# SPDX-License-Identifier: BSD-3-Clause

set(ARMCI_MAP ${PROJECT_SOURCE_DIR}/capi/libarmci.map)
set(ARMCI_LIBDIR_classic ${PROJECT_BINARY_DIR}/lib)
set(ARMCI_LIBDIR_openmpi ${PROJECT_BINARY_DIR}/lib/armci-mpi/openmpi)
set(ARMCI_LIBDIR_mpich ${PROJECT_BINARY_DIR}/lib/armci-mpi/mpich)
set(ARMCI_FLAVOURS "")

file(GLOB ARMCI_DOOR ${PROJECT_SOURCE_DIR}/capi/*.go)
if(NOT ARMCI_DOOR)
  message(STATUS "no capi/*.go: the library is not built")
  return()
endif()

# armci_library(<classic|openmpi|mpich> <soname> [<build tag>])
function(armci_library flavour soname)
  set(directory ${ARMCI_LIBDIR_${flavour}})
  armci_go_library(armci_${flavour} OUTPUT ${directory}/${soname} PACKAGE ./capi SONAME ${soname}
    MAP ${ARMCI_MAP} TAG ${ARGN})
  file(MAKE_DIRECTORY ${directory})
  file(CREATE_LINK ${soname} ${directory}/libarmci.so SYMBOLIC)
endfunction()

armci_library(classic libarmci.so.0)
list(APPEND ARMCI_FLAVOURS classic)
if(ARMCI_MPI_ABI)
  armci_library(openmpi libarmci.so.1 armci_openmpi)
  armci_library(mpich libarmci.so.1 armci_mpich)
  list(APPEND ARMCI_FLAVOURS openmpi mpich)
endif()
