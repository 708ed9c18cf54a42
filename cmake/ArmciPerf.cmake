# The workers of armci_perf: C programs in libexec/armci that find the library relative to themselves, one without
# MPI, one for each MPI here (to compare with), one with raw verbs (likewise), and one without the library. armci_perf itself is in ArmciCommands.
# SPDX-License-Identifier: BSD-3-Clause

if(NOT TARGET armci_classic OR NOT TARGET armci_perf)
  return()
endif()
set(ARMCI_PERF_HOME ${CMAKE_INSTALL_LIBEXECDIR}/armci)
set(here ${PROJECT_SOURCE_DIR}/cmd/armci_perf)
file(GLOB sources CONFIGURE_DEPENDS ${here}/worker/*.c)
file(GLOB headers CONFIGURE_DEPENDS ${here}/worker/*.h ${here}/rdma/*.h ${here}/verbs/*.h ${PROJECT_SOURCE_DIR}/include/*.h)
file(RELATIVE_PATH up /prefix/${ARMCI_PERF_HOME} /prefix/${CMAKE_INSTALL_LIBDIR})
add_custom_target(armci_perf_workers ALL)

# armci_perf_worker(<name> <compiler> SOURCES <file>... [FLAGS <flag>...])
function(armci_perf_worker name compiler)
  cmake_parse_arguments(A "" "" "SOURCES;FLAGS" ${ARGN})
  set(output ${PROJECT_BINARY_DIR}/libexec/armci/${name})
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/libexec/armci
    COMMAND ${compiler} -std=gnu11 -O2 -g -Wall -Wextra -Werror -I${PROJECT_SOURCE_DIR}/include -o ${output}
      ${A_SOURCES} ${A_FLAGS} -lm -lpthread
    DEPENDS ${A_SOURCES} ${headers}
    COMMENT "compile ${name}" VERBATIM)
  add_custom_target(build_${name} DEPENDS ${output})
  add_dependencies(build_${name} armci_classic)
  add_dependencies(armci_perf_workers build_${name})
  install(PROGRAMS ${output} DESTINATION ${ARMCI_PERF_HOME})
endfunction()

set(link -L${ARMCI_LIBDIR_classic} -larmci "-Wl,-rpath,$ORIGIN/../../lib:$ORIGIN/${up}")
armci_perf_worker(perf-bare ${CMAKE_C_COMPILER} SOURCES ${here}/bare/bare.c ${here}/worker/resident.c)
armci_perf_worker(perf-none ${CMAKE_C_COMPILER} SOURCES ${sources} FLAGS ${link})
foreach(flavour openmpi mpich)
  if(ARMCI_CC_${flavour})
    armci_perf_worker(perf-${flavour} ${ARMCI_CC_${flavour}} SOURCES ${sources} FLAGS -DPERF_MPI ${link})
  endif()
endforeach()

find_path(ARMCI_VERBS_INCLUDE infiniband/verbs.h DOC "header of libibverbs, for raw baselines and tests only")
find_library(ARMCI_VERBS_LIBRARY ibverbs DOC "libibverbs, for raw baselines and tests only")
if(ARMCI_VERBS_INCLUDE AND ARMCI_VERBS_LIBRARY)
  file(GLOB rdma CONFIGURE_DEPENDS ${here}/rdma/*.c ${here}/verbs/*.c)
  armci_perf_worker(perf-verbs ${CMAKE_C_COMPILER} SOURCES ${sources} ${rdma}
    FLAGS -DPERF_VERBS -I${here}/worker -I${here}/verbs -I${ARMCI_VERBS_INCLUDE} ${link} ${ARMCI_VERBS_LIBRARY})
endif()
