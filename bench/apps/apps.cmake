# The applications of the papers (app.h): build/bench/apps/NAME of each directory here, with Open
# MPI. Nothing of it is installed.
# SPDX-License-Identifier: BSD-3-Clause

set(apps ${here}/apps)
file(GLOB apps_shared CONFIGURE_DEPENDS ${apps}/*.c)
list(APPEND apps_shared ${ARMCI_PERF_SOURCE}/timing.c)
# armci_bench_app(<directory> [FLAGS <flag>...])
function(armci_bench_app name)
  cmake_parse_arguments(A "" "" "FLAGS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${apps}/${name}/*.c)
  file(GLOB local CONFIGURE_DEPENDS ${apps}/*.h ${apps}/${name}/*.h)
  set(output ${bench}/apps/${name})
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${bench}/apps
    COMMAND ${ARMCI_CC_openmpi} ${ARMCI_PERF_CFLAGS} -I${apps} -I${ARMCI_PERF_SOURCE} -o ${output}
      ${sources} ${apps_shared}
      -L${ARMCI_LIBDIR_classic} -larmci "-Wl,--enable-new-dtags,-rpath,$ORIGIN/../../lib" -lpthread
      -lm ${A_FLAGS}
    DEPENDS ${sources} ${apps_shared} ${local} ${headers}
    COMMENT "compile bench/apps/${name}" VERBATIM)
  add_custom_target(bench_app_${name} DEPENDS ${output})
  add_dependencies(bench_app_${name} armci_classic)
  add_dependencies(armci_bench bench_app_${name})
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
    armci_bench_app(srumma FLAGS ${ARMCI_SCALAPACK} -llapack -lblas)
  endif()
endif()
