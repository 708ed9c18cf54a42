# The worker of armci_perf: a C program in libexec/armci that finds the library relative to itself.
# armci_perf itself is in ArmciCommands; raw baselines are bench/'s, and armci_accept's.
# SPDX-License-Identifier: BSD-3-Clause

if(NOT TARGET armci_classic OR NOT TARGET armci_perf)
  return()
endif()
set(ARMCI_PERF_HOME ${CMAKE_INSTALL_LIBEXECDIR}/armci)
set(ARMCI_PERF_SOURCE ${PROJECT_SOURCE_DIR}/cmd/armci_perf/worker)
set(ARMCI_PERF_CFLAGS -std=gnu11 ${ARMCI_CFLAGS} -I${PROJECT_SOURCE_DIR}/include)
file(GLOB sources CONFIGURE_DEPENDS ${ARMCI_PERF_SOURCE}/*.c)
file(GLOB headers CONFIGURE_DEPENDS ${ARMCI_PERF_SOURCE}/*.h ${PROJECT_SOURCE_DIR}/include/*.h)
file(RELATIVE_PATH up /prefix/${ARMCI_PERF_HOME} /prefix/${CMAKE_INSTALL_LIBDIR})
set(ARMCI_PERF_RPATH "-Wl,-rpath,$ORIGIN/../../lib:$ORIGIN/${up}")
if(CMAKE_SKIP_RPATH) # a distribution's libraries are found anyway
  set(ARMCI_PERF_RPATH "")
endif()
set(output ${PROJECT_BINARY_DIR}/libexec/armci/perf-worker)
add_custom_command(OUTPUT ${output}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/libexec/armci
  COMMAND ${CMAKE_C_COMPILER} ${ARMCI_PERF_CFLAGS} -o ${output} ${sources} -L${ARMCI_LIBDIR_classic}
    -larmci ${ARMCI_PERF_RPATH} ${ARMCI_LDFLAGS} -lpthread
  DEPENDS ${sources} ${headers}
  COMMENT "compile perf-worker" VERBATIM)
add_custom_target(armci_perf_worker ALL DEPENDS ${output})
add_dependencies(armci_perf_worker armci_classic)
install(PROGRAMS ${output} DESTINATION ${ARMCI_PERF_HOME})
