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

find_path(ARMCI_VERBS_INCLUDE infiniband/verbs.h
  DOC "header of libibverbs, for raw baselines and tests only")
find_library(ARMCI_VERBS_LIBRARY ibverbs DOC "libibverbs, for raw baselines and tests only")
if(ARMCI_VERBS_INCLUDE AND ARMCI_VERBS_LIBRARY)
  file(GLOB accept_more CONFIGURE_DEPENDS ${accept_bench}/rdma/*.c ${accept_bench}/verbs/*.c)
  armci_accept_program(verbs ${CMAKE_C_COMPILER} SOURCES ${accept_sources} ${accept_more}
    FLAGS -DPERF_VERBS -I${accept_bench}/verbs -I${accept_bench}/rdma
      -I${ARMCI_VERBS_INCLUDE}
    LIBS ${ARMCI_VERBS_LIBRARY})
endif()
find_path(ARMCI_FABRIC_INCLUDE rdma/fabric.h
  DOC "header of libfabric, for raw baselines and tests only")
find_library(ARMCI_FABRIC_LIBRARY fabric DOC "libfabric, for raw baselines and tests only")
if(ARMCI_FABRIC_INCLUDE AND ARMCI_FABRIC_LIBRARY)
  file(GLOB accept_more CONFIGURE_DEPENDS ${accept_bench}/ofi/*.c ${accept_bench}/fabric/*.c)
  armci_accept_program(ofi ${CMAKE_C_COMPILER} SOURCES ${accept_sources} ${accept_more}
    FLAGS -DPERF_OFI -I${accept_bench}/fabric -I${ARMCI_FABRIC_INCLUDE}
    LIBS ${ARMCI_FABRIC_LIBRARY})
endif()

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
