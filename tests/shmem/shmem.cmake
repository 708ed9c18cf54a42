# OpenSHMEM over libshmem_armci.so, label shmem: the programs of this directory, on one node and on
# several, pretended or real, and over a device in software. One test runs many programs in a row
# (tests/hosts/run.sh); which programs there are is said in programs.txt, not here.
# SPDX-License-Identifier: BSD-3-Clause

set(shmem ${here}/shmem)
file(GLOB shmem_headers CONFIGURE_DEPENDS ${shmem}/*.h ${PROJECT_SOURCE_DIR}/shmem/shmem*.h)

# shmem_program(<output> <source>): built by armci_tests.
function(shmem_program output source)
  armci_program(OUTPUT ${output} FLAVOUR none TARGET armci_tests SOURCES ${source}
    DEPENDS ${shmem_headers} FLAGS -I${PROJECT_SOURCE_DIR}/shmem
    -I${PROJECT_SOURCE_DIR}/include SHMEM)
endfunction()

programs_listed(shmem "check|full")
foreach(name source IN ZIP_LISTS listed_names listed_sources)
  shmem_program(${out}/shmem/none/${name} ${shmem}/${source})
endforeach()

# shmem_run(<name> <nodes|hosts> <shape> [NAME=value...])
function(shmem_run name mode shape)
  armci_suite(shmem/${name} SCRIPT ${here}/hosts/run.sh LABEL shmem TIMEOUT 300 WAITS
    ${lock_${mode}} ARGS ${mode} none ${shape} shmem ENV ${ARGN})
endfunction()

foreach(shape 1x1 1x2 1x4 2x2)
  shmem_run(armcirun/${shape} nodes ${shape})
endforeach()
shmem_run(armcirun/1x4/slow nodes 1x4 ARMCI_FASTPATH=n)
shmem_run(armcirun/3x1/more nodes 3x1)
shmem_run(hosts/armcirun hosts 2x1)
if(TARGET softverbs)
  foreach(shape 2x1 2x2)
    armci_suite(shmem/softverbs/${shape} SCRIPT ${soft}/with.sh LABEL shmem TIMEOUT 300 WAITS
      ARGS ${out}/softverbs sh ${here}/hosts/run.sh nodes none ${shape} shmem
      ENV ARMCI_TRANSPORT=rdma)
  endforeach()
endif()

# The ways a job ends, mistakes, and the death of a PE; the commands.
shmem_program(${out}/shmem/ends/ends ${shmem}/ends/ends.c)
shmem_program(${out}/shmem/ends/before ${shmem}/ends/before.c)
shmem_program(${out}/shmem/fault/victim ${shmem}/fault/victim.c)
armci_suite(shmem/ends SCRIPT ${shmem}/ends/ends.sh LABEL shmem TIMEOUT 300 WAITS)
armci_suite(shmem/fault SCRIPT ${shmem}/fault/fault.sh LABEL shmem TIMEOUT 300 WAITS
  ENV "FAULT_WAYS=wait lock")
armci_suite(shmem/fault/more SCRIPT ${shmem}/fault/fault.sh LABEL shmem TIMEOUT 300 WAITS
  ENV "FAULT_WAYS=barrier reduce gets")
# A malloc of the library fails (fault/nth.sh).
armci_suite(shmem/nth SCRIPT ${here}/fault/nth.sh LABEL shmem TIMEOUT 200 WAITS
  ARGS malloc:ENOMEM:24:60 ENV NTH_NODES=1 "NTH_PROGRAM=shmem/none/heap shmem/none/teams")
armci_suite(shmem/command SCRIPT ${shmem}/command.sh LABEL shmem TIMEOUT 120)
