# One-sided MPI over libarmci-mpirma.so, label rma: the programs of this directory, compiled with
# plain MPI wrappers and without our library, run through bin/armci-mpirma on one node and on
# several, pretended or real. One test runs many programs in a row (tests/hosts/run.sh); which
# programs there are, and which part each belongs to, is said in programs.txt, not here.
# SPDX-License-Identifier: BSD-3-Clause

set(rma ${here}/rma)
file(GLOB rma_headers CONFIGURE_DEPENDS ${rma}/*.h)

# rma_program(<name> <flavour> <source>): built by armci_tests, to where run.sh looks for it. The
# modules of MPICH let gfortran warn of every two calls with buffers of different types.
function(rma_program name flavour source)
  set(program ${out}/rma/${flavour}/${name})
  set(command ${ARMCI_CC_${flavour}} ${ARMCI_CFLAGS})
  if(source MATCHES "f90$")
    set(command ${ARMCI_FC_${flavour}} ${ARMCI_FFLAGS} -w)
  endif()
  add_custom_command(OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${out}/rma/${flavour}
    COMMAND ${command} -o ${program} ${source} ${ARMCI_LDFLAGS} -lm -lpthread
    DEPENDS ${source} ${rma_headers}
    COMMENT "compile ${program}" VERBATIM)
  add_custom_target(build_tests_rma_${flavour}_${name} DEPENDS ${program})
  add_dependencies(armci_tests build_tests_rma_${flavour}_${name})
endfunction()

programs_listed(rma "check|full")
foreach(name source IN ZIP_LISTS listed_names listed_sources)
  set(can ${ARMCI_CAN_CC})
  if(source MATCHES "f90$")
    set(can ${ARMCI_CAN_FC})
  endif()
  foreach(flavour openmpi mpich)
    if(flavour IN_LIST can)
      rma_program(${name} ${flavour} ${rma}/${source})
    endif()
  endforeach()
endforeach()

# rma_run(<name> <nodes|hosts> <flavour> <shape> <room> [NAME=value...])
function(rma_run name mode flavour shape room)
  armci_suite(rma/${name} SCRIPT ${here}/hosts/run.sh LABEL rma TIMEOUT 300
    WAITS ${lock_${mode}} ARGS ${mode} ${flavour} ${shape} ${room}
    ENV ${ARGN})
endfunction()

set(few
  "HOSTS_PROGRAMS=rma/put_get rma/accumulate rma/pscw rma/cas rma/dynamic rma/requests rma/goes_on")
set(more_openmpi n4 2x2)
set(more_mpich 2x2)
set(shape_n4 1x4)
set(shape_2x2 2x2)
set(others_openmpi 1x1 3x1 2x4)
set(others_mpich 1x3 4x1)
set(fault_mpich "FAULT_WAYS=lock fence") # the rest is the library's, whatever the launcher
foreach(flavour openmpi mpich)
  if(NOT flavour IN_LIST ARMCI_CAN_CC)
    armci_skip(rma/${flavour} "no C compiler wrapper or launcher of ${flavour}")
    continue()
  endif()
  # Each concept once, and the rest, on a node and on two; other numbers of ranks and nodes; the way
  # through Go.
  foreach(shape n4 2x2)
    rma_run(${flavour}/${shape} nodes ${flavour} ${shape_${shape}} rma_check MODEL_SECONDS=1)
  endforeach()
  foreach(shape IN LISTS more_${flavour})
    rma_run(${flavour}/${shape}/more nodes ${flavour} ${shape_${shape}} rma_full)
  endforeach()
  foreach(shape IN LISTS others_${flavour})
    rma_run(${flavour}/${shape}/few nodes ${flavour} ${shape} few ${few})
  endforeach()
  if(flavour STREQUAL openmpi)
    rma_run(${flavour}/slow nodes ${flavour} 1x4 few ARMCI_FASTPATH=n ${few})
    # As in containers where the kernel does not let a rank read the memory of another.
    rma_run(${flavour}/owner nodes ${flavour} 1x2 few ARMCI_SHM_VM=n
      "HOSTS_PROGRAMS=rma/create rma/put_get rma/accumulate rma/dynamic")
  endif()
  rma_run(model/${flavour} nodes ${flavour} 2x2 few HOSTS_PROGRAMS=rma/model MODEL_SECONDS=6)
  armci_suite(rma/fault/${flavour} SCRIPT ${rma}/fault.sh LABEL rma TIMEOUT 300 WAITS
    ENV "FAULT_LAUNCHERS=${flavour}" ${fault_${flavour}})
  rma_run(hosts/${flavour} hosts ${flavour} 2x1 few ${few})
  if(TARGET softverbs)
    armci_suite(rma/softverbs/${flavour} SCRIPT ${soft}/with.sh LABEL rma TIMEOUT 300 WAITS
      ARGS ${out}/softverbs sh ${here}/hosts/run.sh nodes ${flavour} 2x2 few
      ENV ARMCI_TRANSPORT=rdma "${few} rma/lock rma/many_windows")
    # A rank alone on its node: the device reaches memory of MPI_Win_create.
    armci_suite(rma/softverbs/${flavour}/alone SCRIPT ${soft}/with.sh LABEL rma TIMEOUT 300 WAITS
      ARGS ${out}/softverbs sh ${here}/hosts/run.sh nodes ${flavour} 2x1 few
      ENV ARMCI_TRANSPORT=rdma "HOSTS_PROGRAMS=rma/create rma/put_get rma/dynamic")
  endif()
  if(TARGET softverbs AND flavour STREQUAL openmpi)
    # A rank dies while others wait for words that its device should have written, or for a lock
    # that it holds by its device.
    armci_suite(rma/softverbs/${flavour}/fault SCRIPT ${soft}/with.sh LABEL rma TIMEOUT 100
      ARGS ${out}/softverbs sh ${rma}/fault.sh
      ENV ARMCI_TRANSPORT=rdma FAULT_LAUNCHERS=${flavour} "FAULT_WAYS=fence pscw lock")
  endif()
endforeach()
# A malloc of the library fails (fault/nth.sh).
if("mpich" IN_LIST ARMCI_CAN_CC)
  armci_suite(rma/nth SCRIPT ${here}/fault/nth.sh LABEL rma TIMEOUT 300 WAITS
    ARGS malloc:ENOMEM:12:50
    ENV NTH_NODES=1 "NTH_PROGRAM=rma/mpich/create rma/mpich/pscw rma/mpich/shared")
endif()
# Runtimes of others, from Debian packages.
armci_suite(rma/debian SCRIPT ${rma}/debian.sh LABEL rma TIMEOUT 300)
armci_suite(rma/command SCRIPT ${rma}/command.sh LABEL rma TIMEOUT 60)
