# Coarrays over libcaf_armci.so, label caf: the programs of this directory, compiled by gfortran and
# the MPIs' wrappers as bin/caf-armci does, run on one node and on several, pretended or real. One
# test runs many programs in a row (tests/hosts/run.sh); which programs there are, and on how many
# images each runs, is said in programs.txt, not here.
# SPDX-License-Identifier: BSD-3-Clause

set(caf ${here}/caf)
if(NOT "none" IN_LIST ARMCI_CAN_FC OR NOT CMAKE_Fortran_COMPILER_ID STREQUAL GNU)
  armci_skip(caf/armcirun "no gfortran")
  return()
endif()
file(GLOB caf_headers CONFIGURE_DEPENDS ${caf}/*.h ${PROJECT_SOURCE_DIR}/caf/*.h)

# caf_program(<output> <flavour> <source>): built by armci_tests. Tests compare reals for equality
# and cut strings; and gfortran takes a get for a function that might not be called.
function(caf_program output flavour source)
  set(flags -I${PROJECT_SOURCE_DIR}/caf)
  if(source MATCHES "f90$")
    set(flags -Wno-compare-reals -Wno-conversion -Wno-character-truncation
      -Wno-function-elimination)
  endif()
  armci_program(OUTPUT ${output} FLAVOUR ${flavour} TARGET armci_tests SOURCES ${source}
    DEPENDS ${caf_headers}
    FLAGS ${flags} COARRAYS)
endfunction()

programs_listed(caf "mpi|check|full")
foreach(name tier source IN ZIP_LISTS listed_names listed_tiers listed_sources)
  file(STRINGS ${caf}/${source} uses_mpi REGEX "^ *use +mpi")
  file(STRINGS ${caf}/${source} needs LIMIT_COUNT 1 REGEX "[Nn]eeds gfortran [0-9]+")
  string(REGEX REPLACE ".*gfortran ([0-9]+).*" "\\1" needs "${needs}")
  if(needs AND CMAKE_Fortran_COMPILER_VERSION VERSION_LESS needs)
    continue()
  endif()
  foreach(flavour IN LISTS ARMCI_CAN_FC)
    if((flavour STREQUAL none AND NOT uses_mpi)
      OR (NOT flavour STREQUAL none AND tier STREQUAL mpi))
      caf_program(${out}/caf/${flavour}/${name} ${flavour} ${caf}/${source})
    endif()
  endforeach()
endforeach()

# caf_run(<name> <nodes|hosts> <flavour> <shape> <rooms> [NAME=value...])
function(caf_run name mode flavour shape rooms)
  armci_suite(caf/${name} SCRIPT ${here}/hosts/run.sh LABEL caf TIMEOUT 300 WAITS
    ${lock_${mode}} ARGS ${mode} ${flavour} ${shape} ${rooms}
    ENV ${ARGN})
endfunction()

# Each concept once and the rest, on a node and on two; other numbers of images and nodes; without
# the fast path.
set(once caf_mpi caf_check)
foreach(shape 1x1 1x2 1x4 2x2)
  caf_run(armcirun/${shape} nodes none ${shape} "${once}")
  caf_run(armcirun/${shape}/more nodes none ${shape} caf_full)
endforeach()
caf_run(armcirun/1x4/slow nodes none 1x4 caf ARMCI_FASTPATH=n)
caf_run(armcirun/1x2/target nodes none 1x2 few ARMCI_CAF_ACCESSORS=target
  HOSTS_PROGRAMS=caf/abi_accessor)
foreach(shape 1x3 2x1 4x1)
  caf_run(armcirun/${shape}/few nodes none ${shape} "${once}")
endforeach()
caf_run(hosts/armcirun hosts none 2x1 caf)
if(TARGET softverbs)
  foreach(shape 2x1 2x2)
    armci_suite(caf/softverbs/${shape} SCRIPT ${soft}/with.sh LABEL caf TIMEOUT 300 WAITS
      ARGS ${out}/softverbs sh ${here}/hosts/run.sh nodes none ${shape} caf
      ENV ARMCI_TRANSPORT=rdma)
  endforeach()
endif()
set(shapes_openmpi 1x4 2x2)
set(shapes_mpich 2x1 2x2)
foreach(flavour openmpi mpich)
  if(NOT flavour IN_LIST ARMCI_CAN_FC)
    armci_skip(caf/${flavour} "no Fortran compiler wrapper or launcher of ${flavour}")
    continue()
  endif()
  list(GET shapes_${flavour} 0 shape)
  list(GET shapes_${flavour} 1 other)
  caf_run(${flavour}/${shape} nodes ${flavour} ${shape} caf_mpi)
  caf_run(${flavour}/${other}/more nodes ${flavour} ${other} caf_mpi)
  caf_run(hosts/${flavour} hosts ${flavour} 2x1 few "HOSTS_PROGRAMS=caf/hello caf/with_mpi")
endforeach()

# The ways a job ends, by statements and by the death of an image; the command.
foreach(flavour IN LISTS ARMCI_CAN_FC)
  caf_program(${out}/caf/ends/${flavour}/ends ${flavour} ${caf}/stop/ends.f90)
  caf_program(${out}/caf/ends/${flavour}/victim ${flavour} ${caf}/fault/victim.f90)
endforeach()
armci_suite(caf/stop/armcirun SCRIPT ${caf}/stop.sh LABEL caf TIMEOUT 200 ARGS none)
armci_suite(caf/fault/armcirun SCRIPT ${caf}/fault.sh LABEL caf TIMEOUT 200 WAITS
  ARGS none ENV "FAULT_WAYS=sync_images around lock")
armci_suite(caf/fault/armcirun/more SCRIPT ${caf}/fault.sh LABEL caf TIMEOUT 300 WAITS
  ARGS none ENV "FAULT_WAYS=sync_all event co_sum gets")
set(nodes_openmpi 1)
set(nodes_mpich 2)
foreach(flavour openmpi mpich)
  if(flavour IN_LIST ARMCI_CAN_FC)
    armci_suite(caf/stop/${flavour} SCRIPT ${caf}/stop.sh LABEL caf TIMEOUT 200 ARGS ${flavour}
      ENV STOP_NODES=${nodes_${flavour}})
    armci_suite(caf/fault/${flavour} SCRIPT ${caf}/fault.sh LABEL caf TIMEOUT 300 WAITS
      ARGS ${flavour} ENV FAULT_NODES=2 "FAULT_WAYS=sync_images lock")
  endif()
endforeach()
# Accesses that cannot succeed, and what is said of them.
caf_program(${out}/caf/ends/none/access_fails none ${caf}/errors/access_fails.f90)
armci_suite(caf/errors SCRIPT ${caf}/errors/access_fails.sh LABEL caf TIMEOUT 120
  ARGS ${PROJECT_BINARY_DIR}/bin/armcirun ${out}/caf/ends/none/access_fails
    ${caf}/errors/access_fails.txt)
# A malloc of the library fails (fault/nth.sh).
armci_suite(caf/nth SCRIPT ${here}/fault/nth.sh LABEL caf TIMEOUT 200 WAITS
  ARGS malloc:ENOMEM:24:80
  ENV NTH_NODES=1 "NTH_PROGRAM=caf/none/collectives caf/none/transfer caf/none/accessors")
armci_suite(caf/command SCRIPT ${caf}/command.sh LABEL caf TIMEOUT 60)

# The examples, on a node and on two.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/coarray/*.f90)
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  set(program ${PROJECT_BINARY_DIR}/examples/none/coarray/${name})
  caf_program(${program} none ${source})
  armci_run(examples/coarray/${name}/armcirun LAUNCHER none RANKS 4 COMMAND ${program}
    LABELS examples)
  armci_run(examples/coarray/${name}/armcirun/2x2 LAUNCHER none RANKS 4 COMMAND -nodes 2 ${program}
    LABELS examples)
endforeach()
