# The runtime of coarray Fortran, for gfortran -fcoarray=lib: libcaf_armci.so.0 and libcaf_armci.a,
# in C over libarmci.so.0, which it finds beside itself; and the command caf-armci. No Fortran
# compiler is needed to build it. It must see the public headers only.
# SPDX-License-Identifier: BSD-3-Clause

if(NOT TARGET armci_classic)
  message(STATUS "no libarmci: libcaf_armci is not built")
  return()
endif()
set(ARMCI_CAF_MAP ${PROJECT_SOURCE_DIR}/caf/libcaf_armci.map)
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/caf/*.c)

add_library(armci_caf_objects OBJECT ${sources})
set_target_properties(armci_caf_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(armci_caf_objects PRIVATE ${ARMCI_CFLAGS} -fvisibility=hidden -fno-plt)
target_compile_definitions(armci_caf_objects PRIVATE ARMCI_NO_MPI)
target_include_directories(armci_caf_objects PRIVATE ${PROJECT_SOURCE_DIR}/include)

add_library(armci_caf SHARED $<TARGET_OBJECTS:armci_caf_objects>)
target_link_options(armci_caf PRIVATE -Wl,--version-script=${ARMCI_CAF_MAP} -Wl,--no-undefined)
target_link_directories(armci_caf PRIVATE ${ARMCI_LIBDIR_classic})
target_link_libraries(armci_caf PRIVATE -larmci pthread)
set_target_properties(armci_caf PROPERTIES OUTPUT_NAME caf_armci SOVERSION 0
  LIBRARY_OUTPUT_DIRECTORY ${ARMCI_LIBDIR_classic}
  LINK_DEPENDS ${ARMCI_CAF_MAP} BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
add_dependencies(armci_caf armci_classic)

add_library(armci_caf_static STATIC $<TARGET_OBJECTS:armci_caf_objects>)
set_target_properties(armci_caf_static PROPERTIES OUTPUT_NAME caf_armci
  ARCHIVE_OUTPUT_DIRECTORY ${ARMCI_LIBDIR_classic})
