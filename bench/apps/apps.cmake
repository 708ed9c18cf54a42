# The applications of the papers (app.h): build/bench/apps/NAME of each directory here, with Open
# MPI. Nothing of it is installed.
# SPDX-License-Identifier: BSD-3-Clause

set(apps ${here}/apps)
file(GLOB apps_shared CONFIGURE_DEPENDS ${apps}/*.c)
list(APPEND apps_shared ${ARMCI_PERF_SOURCE}/timing.c)
# armci_bench_app(<directory> [LIBS <flag>...])
function(armci_bench_app name)
  cmake_parse_arguments(A "" "" "LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${apps}/${name}/*.c)
  armci_bench_program(apps/${name} COMPILER ${ARMCI_CC_openmpi} SOURCES ${sources} ${apps_shared}
    FLAGS -I${apps} LIBS -lm ${A_LIBS} LIBRARY)
endfunction()

if(ARMCI_CC_openmpi)
  file(GLOB directories RELATIVE ${apps} ${apps}/*/)
  foreach(name IN LISTS directories)
    if(IS_DIRECTORY ${apps}/${name} AND NOT name STREQUAL srumma)
      armci_bench_app(${name})
    endif()
  endforeach()
  # SRUMMA's rival is ScaLAPACK's pdgemm; both multiply blocks by the same BLAS.
  find_library(ARMCI_SCALAPACK scalapack-openmpi
    DOC "ScaLAPACK for Open MPI, for a comparison only")
  if(ARMCI_SCALAPACK)
    armci_bench_app(srumma LIBS ${ARMCI_SCALAPACK} -llapack -lblas)
  endif()
endif()
