# OpenSHMEM: libshmem_armci.so.0 and libshmem_armci.a, in C over libarmci.so.0, which it finds
# beside itself; its headers, in a directory of their own, since another SHMEM may be installed.
# The commands armci-oshcc, armci-oshc++ and armci-oshrun are made in ArmciInstall.cmake. It must
# see the public headers only.
# SPDX-License-Identifier: BSD-3-Clause

if(NOT TARGET armci_classic)
  message(STATUS "no libarmci: libshmem_armci is not built")
  return()
endif()
set(ARMCI_SHMEM_MAP ${PROJECT_SOURCE_DIR}/shmem/libshmem_armci.map)
set(ARMCI_SHMEM_HEADERS shmem.h shmem_types.h shmem_calls.h shmem_generic.h shmemx.h pshmem.h
  mpp/shmem.h mpp/shmemx.h)
set(ARMCI_SHMEM_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR}/armci-shmem)
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/shmem/*.c)

add_library(armci_shmem_objects OBJECT ${sources})
set_target_properties(armci_shmem_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(armci_shmem_objects PRIVATE ${ARMCI_CFLAGS} -fvisibility=hidden -fno-plt)
target_compile_definitions(armci_shmem_objects PRIVATE ARMCI_NO_MPI)
target_include_directories(armci_shmem_objects PRIVATE ${PROJECT_SOURCE_DIR}/include)

add_library(armci_shmem SHARED $<TARGET_OBJECTS:armci_shmem_objects>)
target_link_options(armci_shmem PRIVATE -Wl,--version-script=${ARMCI_SHMEM_MAP}
  -Wl,--no-undefined)
target_link_directories(armci_shmem PRIVATE ${ARMCI_LIBDIR_classic})
target_link_libraries(armci_shmem PRIVATE -larmci pthread m)
set_target_properties(armci_shmem PROPERTIES OUTPUT_NAME shmem_armci SOVERSION 0
  LIBRARY_OUTPUT_DIRECTORY ${ARMCI_LIBDIR_classic}
  LINK_DEPENDS ${ARMCI_SHMEM_MAP} BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
add_dependencies(armci_shmem armci_classic)

add_library(armci_shmem_static STATIC $<TARGET_OBJECTS:armci_shmem_objects>)
set_target_properties(armci_shmem_static PROPERTIES OUTPUT_NAME shmem_armci
  ARCHIVE_OUTPUT_DIRECTORY ${ARMCI_LIBDIR_classic})
