# What the clients of the public headers have in common: coarrays' runtime, OpenSHMEM.
# SPDX-License-Identifier: BSD-3-Clause

# armci_client(<name> [LIBRARIES <library>...]) makes lib<name>_armci.so.0 and lib<name>_armci.a of
# the C files in <name>/, over libarmci.so.0, which the first finds beside itself: the targets
# armci_<name> and armci_<name>_static. It sees the public headers only.
function(armci_client name)
  cmake_parse_arguments(A "" "" "LIBRARIES" ${ARGN})
  set(target armci_${name})
  set(map ${PROJECT_SOURCE_DIR}/${name}/lib${name}_armci.map)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name}/*.c)

  add_library(${target}_objects OBJECT ${sources})
  set_target_properties(${target}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target}_objects PRIVATE ${ARMCI_CFLAGS} -fvisibility=hidden -fno-plt)
  target_compile_definitions(${target}_objects PRIVATE ARMCI_NO_MPI)
  target_include_directories(${target}_objects PRIVATE ${PROJECT_SOURCE_DIR}/include)

  add_library(${target} SHARED $<TARGET_OBJECTS:${target}_objects>)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,--no-undefined)
  target_link_directories(${target} PRIVATE ${ARMCI_LIBDIR_classic})
  target_link_libraries(${target} PRIVATE -larmci pthread ${A_LIBRARIES})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}_armci SOVERSION 0
    LIBRARY_OUTPUT_DIRECTORY ${ARMCI_LIBDIR_classic}
    LINK_DEPENDS ${map} BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  add_dependencies(${target} armci_classic)

  add_library(${target}_static STATIC $<TARGET_OBJECTS:${target}_objects>)
  set_target_properties(${target}_static PROPERTIES OUTPUT_NAME ${name}_armci
    ARCHIVE_OUTPUT_DIRECTORY ${ARMCI_LIBDIR_classic})
endfunction()
