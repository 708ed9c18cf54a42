# The programs of armci_accept, in libexec/armci: the random operations and the matrix product of
# the tests and examples, and, with what there is on this machine, the workers and applications of
# bench/ that have raw baselines and messages of an MPI. These are linked with the libraries that
# they compare with, nothing else is.
# SPDX-License-Identifier: BSD-3-Clause

if(NOT TARGET armci_perf_worker OR NOT TARGET armci_accept)
  return()
endif()
option(ARMCI_ACCEPT_BASELINES
  "install the programs of armci_accept that need libibverbs, libfabric or an MPI, if there are any"
  ON)
set(accept_bench ${PROJECT_SOURCE_DIR}/bench)

# armci_accept_program(<name> <compiler> SOURCES <file>... [FLAGS <flag>...] [LIBS <flag>...])
# Builds and installs libexec/armci/accept-<name>.
function(armci_accept_program name compiler)
  cmake_parse_arguments(A "" "" "SOURCES;FLAGS;LIBS" ${ARGN})
  set(output ${PROJECT_BINARY_DIR}/libexec/armci/accept-${name})
  set(compile ${compiler} ${ARMCI_PERF_CFLAGS} -I${ARMCI_PERF_SOURCE}
    -I${accept_bench}/worker ${A_FLAGS})
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/libexec/armci
    COMMAND ${CMAKE_COMMAND} -E rm -f
      ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/armci_accept_${name}.dir/compiler_depend.internal
    COMMAND ${compile} -MM -MT ${output} ${A_SOURCES} > ${output}.d
    COMMAND ${compile} -o ${output} ${A_SOURCES} -L${ARMCI_LIBDIR_classic} -larmci
      ${ARMCI_PERF_RPATH} ${A_LIBS} ${ARMCI_LDFLAGS} -lpthread -lm
    DEPENDS ${A_SOURCES}
    DEPFILE ${output}.d
    COMMENT "compile accept-${name}" VERBATIM)
  add_custom_target(armci_accept_${name} ALL DEPENDS ${output})
  add_dependencies(armci_accept_${name} armci_classic)
  install(PROGRAMS ${output} DESTINATION ${ARMCI_PERF_HOME})
endfunction()

armci_accept_program(model ${CMAKE_C_COMPILER} SOURCES ${PROJECT_SOURCE_DIR}/tests/c/model.c)
armci_accept_program(matmul ${CMAKE_C_COMPILER} SOURCES ${PROJECT_SOURCE_DIR}/examples/c/matmul.c)
file(GLOB accept_sources CONFIGURE_DEPENDS ${ARMCI_PERF_SOURCE}/*.c ${accept_bench}/worker/*.c)
list(REMOVE_ITEM accept_sources ${ARMCI_PERF_SOURCE}/plain.c)
armci_accept_program(tcp ${CMAKE_C_COMPILER} SOURCES ${accept_sources})
if(NOT ARMCI_ACCEPT_BASELINES)
  return()
endif()

include(ArmciBaselines)
foreach(network verbs ofi)
  if(armci_${network}_sources)
    armci_accept_program(${network} ${CMAKE_C_COMPILER}
      SOURCES ${accept_sources} ${armci_${network}_sources} FLAGS ${armci_${network}_flags}
      LIBS ${armci_${network}_library})
  endif()
endforeach()

file(GLOB accept_apps CONFIGURE_DEPENDS ${accept_bench}/apps/*.c)
list(APPEND accept_apps ${ARMCI_PERF_SOURCE}/timing.c)
file(GLOB accept_mg CONFIGURE_DEPENDS ${accept_bench}/apps/mg/*.c)
file(GLOB accept_srumma CONFIGURE_DEPENDS ${accept_bench}/apps/srumma/*.c)
foreach(flavour openmpi mpich)
  if(ARMCI_CC_${flavour})
    armci_accept_program(${flavour} ${ARMCI_CC_${flavour}}
      SOURCES ${accept_sources} FLAGS -DPERF_MPI)
    # MPICH's MPI_STATUSES_IGNORE is no array, which a compiler says of its header
    armci_accept_program(mg-${flavour} ${ARMCI_CC_${flavour}}
      SOURCES ${accept_mg} ${accept_apps} FLAGS -I${accept_bench}/apps -Wno-stringop-overflow)
    find_library(ARMCI_SCALAPACK_${flavour} scalapack-${flavour}
      DOC "ScaLAPACK for that MPI, for a comparison only")
    if(ARMCI_SCALAPACK_${flavour})
      armci_accept_program(srumma-${flavour} ${ARMCI_CC_${flavour}}
        SOURCES ${accept_srumma} ${accept_apps} FLAGS -I${accept_bench}/apps
        LIBS ${ARMCI_SCALAPACK_${flavour}} -llapack -lblas)
    endif()
  endif()
endforeach()
