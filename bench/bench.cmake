# The benchmarks that compare the library with raw baselines (bench/README.md): the program bench
# and its workers, without MPI, with each MPI, with raw verbs and with raw libfabric; the plain MPI
# program windows; and caf, a program with coarrays. Nothing of it is installed. Target armci_bench;
# the tests build it too.
# SPDX-License-Identifier: BSD-3-Clause

if(NOT TARGET armci_perf_worker)
  return()
endif()
set(here ${PROJECT_SOURCE_DIR}/bench)
set(bench ${PROJECT_BINARY_DIR}/bench)
add_custom_target(armci_bench)

# armci_bench_program(<name> COMPILER <word>... SOURCES <file>... [FLAGS <flag>...]
#                     [LIBS <flag>...] [LIBRARY])
# Builds build/bench/<name>; LIBRARY: with the library. The depfile has its headers, so that a
# header compiles again only what includes it. CMake would build for ever what once depended on a
# header that is gone: it forgets what it remembers.
function(armci_bench_program name)
  cmake_parse_arguments(A "LIBRARY" "" "COMPILER;SOURCES;FLAGS;LIBS" ${ARGN})
  set(output ${bench}/${name})
  string(REPLACE "/" "_" target bench_${name})
  get_filename_component(directory ${output} DIRECTORY)
  set(compile ${A_COMPILER} ${ARMCI_PERF_CFLAGS} -I${ARMCI_PERF_SOURCE} -I${here}/worker ${A_FLAGS})
  if(A_LIBRARY)
    file(RELATIVE_PATH up ${directory} ${ARMCI_LIBDIR_classic})
    list(PREPEND A_LIBS -L${ARMCI_LIBDIR_classic} -larmci
      "-Wl,--enable-new-dtags,-rpath,$ORIGIN/${up}")
  endif()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${directory}
    COMMAND ${CMAKE_COMMAND} -E rm -f
      ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/compiler_depend.internal
    COMMAND ${compile} -MM -MT ${output} ${A_SOURCES} > ${output}.d
    COMMAND ${compile} -o ${output} ${A_SOURCES} ${A_LIBS} -lpthread
    DEPENDS ${A_SOURCES}
    DEPFILE ${output}.d
    COMMENT "compile bench/${name}" VERBATIM)
  add_custom_target(${target} DEPENDS ${output})
  if(A_LIBRARY)
    add_dependencies(${target} armci_classic)
  endif()
  add_dependencies(armci_bench ${target})
endfunction()

file(GLOB sources CONFIGURE_DEPENDS ${ARMCI_PERF_SOURCE}/*.c ${here}/worker/*.c)
list(REMOVE_ITEM sources ${ARMCI_PERF_SOURCE}/plain.c)
# armci_bench_worker(<name> <compiler> [SOURCES <file>...] [FLAGS <flag>...] [LIBS <flag>...])
function(armci_bench_worker name compiler)
  cmake_parse_arguments(A "" "" "SOURCES;FLAGS;LIBS" ${ARGN})
  armci_bench_program(${name} COMPILER ${compiler} SOURCES ${sources} ${A_SOURCES}
    FLAGS ${A_FLAGS} LIBS ${A_LIBS} LIBRARY)
endfunction()
armci_bench_worker(worker-none ${CMAKE_C_COMPILER})
foreach(flavour openmpi mpich)
  if(ARMCI_CC_${flavour})
    armci_bench_worker(worker-${flavour} ${ARMCI_CC_${flavour}} FLAGS -DPERF_MPI)
  endif()
endforeach()

include(ArmciBaselines)
foreach(network verbs ofi)
  if(armci_${network}_sources)
    armci_bench_worker(worker-${network} ${CMAKE_C_COMPILER} SOURCES ${armci_${network}_sources}
      FLAGS ${armci_${network}_flags} LIBS ${armci_${network}_library})
  endif()
endforeach()

# The microbenchmarks of the papers: MPI's messages, raw baselines and the library in the same
# processes.
if(ARMCI_CC_openmpi)
  file(GLOB papers CONFIGURE_DEPENDS ${here}/papers/worker/*.c)
  armci_bench_worker(worker-papers ${ARMCI_CC_openmpi} 
    SOURCES ${papers} ${armci_verbs_sources}
    FLAGS -DPERF_MPI -DPERF_PAPERS -I${here}/papers/worker ${armci_verbs_flags}
    LIBS ${armci_verbs_library})
endif()

# The benchmark of MPI one-sided communication: plain MPI programs, which link nothing of the
# library.
file(GLOB windows CONFIGURE_DEPENDS ${here}/windows/*.c)
list(APPEND windows ${here}/worker/wire.c ${here}/worker/dial.c ${ARMCI_PERF_SOURCE}/timing.c)
foreach(flavour openmpi mpich)
  if(ARMCI_CC_${flavour})
    armci_bench_program(windows-${flavour} COMPILER ${ARMCI_CC_${flavour}} SOURCES ${windows}
      FLAGS -I${here}/windows)
  endif()
endforeach()

# One start of operations in which ranks wait for each other (bench -waits): the library's, and each
# MPI's in a plain MPI program, which links nothing of the library; and what disturbs them.
set(waits ${here}/waits/main.c ${here}/waits/handover.c ${here}/worker/from.c
  ${ARMCI_PERF_SOURCE}/timing.c)
armci_bench_program(disturb COMPILER ${CMAKE_C_COMPILER} SOURCES ${here}/waits/disturb.c)
armci_bench_program(waits-armci COMPILER ${CMAKE_C_COMPILER}
  SOURCES ${waits} ${here}/waits/ours.c ${here}/waits/raw.c ${here}/worker/wire.c
    ${here}/worker/dial.c
  FLAGS -I${here}/waits LIBRARY)
foreach(flavour openmpi mpich)
  if(ARMCI_CC_${flavour})
    armci_bench_program(waits-${flavour} COMPILER ${ARMCI_CC_${flavour}}
      SOURCES ${waits} ${here}/waits/messages.c ${here}/waits/epochs.c
      FLAGS -I${here}/waits LIBS -ldl)
  endif()
endforeach()

# Checkpoints beside dd.
armci_bench_program(checkpoint COMPILER ${CMAKE_C_COMPILER}
  SOURCES ${here}/checkpoint/main.c ${ARMCI_PERF_SOURCE}/timing.c LIBRARY)

# What armci.hpp adds to a call.
if("none" IN_LIST ARMCI_CAN_CXX)
  armci_program(OUTPUT ${bench}/cxx-calls FLAVOUR none TARGET armci_bench
    SOURCES ${here}/cxx/calls.cc ${ARMCI_PERF_SOURCE}/timing.c FLAGS -I${ARMCI_PERF_SOURCE})
endif()

# The benchmark of coarrays: one program, with libcaf_armci and the ARMCI calls beside it, and with
# OpenCoarrays over Open MPI.
set(caf "")
foreach(file task direct measure transfers objects together main)
  list(APPEND caf ${here}/caf/${file}.f90)
endforeach()
string(REPLACE direct.f90 direct_none.f90 caf_alone "${caf}")
find_program(ARMCI_OPENCOARRAYS caf.openmpi
  DOC "compiler wrapper of OpenCoarrays over Open MPI, for comparisons only")
# armci_bench_caf(<name> SOURCES <file>... COMPILER <word>... [FLAGS <word>...])
function(armci_bench_caf name)
  cmake_parse_arguments(A "" "" "SOURCES;COMPILER;FLAGS" ${ARGN})
  set(output ${bench}/caf-${name})
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${bench}/caf/${name}
    COMMAND ${A_COMPILER} -O2 -o ${output} ${A_SOURCES} ${A_FLAGS}
    DEPENDS ${A_SOURCES}
    COMMENT "compile bench/caf-${name}" VERBATIM)
  add_custom_target(bench_caf-${name} DEPENDS ${output})
  add_dependencies(armci_bench bench_caf-${name})
endfunction()
if(TARGET armci_caf AND TARGET armci_fortran AND CMAKE_Fortran_COMPILER_ID STREQUAL GNU)
  armci_bench_caf(armci SOURCES ${caf}
    COMPILER ${CMAKE_Fortran_COMPILER} -fcoarray=lib -J${bench}/caf/armci -I${ARMCI_MODULE_DIR}
    FLAGS -L${ARMCI_LIBDIR_classic} -lcaf_armci -larmci
      "-Wl,--enable-new-dtags,-rpath,$ORIGIN/../lib")
  add_dependencies(bench_caf-armci armci_caf armci_fortran)
endif()
# Any coarray program's time in its coarray library, to be preloaded.
armci_bench_program(caf-calls.so COMPILER ${CMAKE_C_COMPILER} SOURCES ${here}/caf/calls.c
  FLAGS -fPIC -shared LIBS -ldl)
if(ARMCI_OPENCOARRAYS)
  armci_bench_caf(openmpi SOURCES ${caf_alone}
    COMPILER ${ARMCI_OPENCOARRAYS} -J${bench}/caf/openmpi)
endif()

include(${here}/apps/apps.cmake)

armci_go_program(bench ./bench ${bench}/bench)
add_dependencies(armci_bench bench)
armci_go_program(papers ./bench/papers ${bench}/papers)
add_dependencies(armci_bench papers)
