# Suites that are scripts of their own: the build itself, installation, faults, Global Arrays,
# NWChem. Each prints why it skips. Those that kill, measure or fill the machine run alone.
# SPDX-License-Identifier: BSD-3-Clause

set(here ${CMAKE_CURRENT_SOURCE_DIR})
set(out ${PROJECT_BINARY_DIR}/tests)

# How the scripts are told about compilers, launchers and the build: CC_F CXX_F FC_F RUN_F per
# flavour F.
set(toolbox "BUILD=${PROJECT_BINARY_DIR}" "SOURCE=${PROJECT_SOURCE_DIR}" "CMAKE=${CMAKE_COMMAND}"
  "GO=${ARMCI_GO}" "WERROR=${ARMCI_WERROR_FLAG}")
foreach(flavour none openmpi mpich)
  set(cc "")
  set(cxx "")
  set(fc "")
  set(run "")
  if(flavour IN_LIST ARMCI_CAN_CC)
    set(cc ${ARMCI_CC_${flavour}})
    armci_launcher(run ${flavour} 2)
    string(REPLACE ";" " " run "${run}")
  endif()
  if(flavour IN_LIST ARMCI_CAN_CXX)
    set(cxx ${ARMCI_CXX_${flavour}})
  endif()
  if(flavour IN_LIST ARMCI_CAN_FC)
    set(fc ${ARMCI_FC_${flavour}})
  endif()
  list(APPEND toolbox "CC_${flavour}=${cc}" "CXX_${flavour}=${cxx}" "FC_${flavour}=${fc}"
    "RUN_${flavour}=${run}")
endforeach()

# armci_suite(<name> SCRIPT <file> LABEL <label> TIMEOUT <seconds> [COMPILES | WAITS]
#             [LOCK <what>] [ARGS <argument>...] [ENV NAME=value...])
# COMPILES: it spends its time in compilers and emulators, and does not mind another such test
# beside it. These begin first, so that they find each other. WAITS: for launchers, for ranks that
# start and end, for time limits, so two of these take hardly longer than one; what it looks for is
# its own job's, and it measures nothing. LOCK: what it shares with others that are not alone, such
# as the hosts of hosts.sh.
function(armci_suite name)
  cmake_parse_arguments(A "COMPILES;WAITS" "SCRIPT;LABEL;TIMEOUT;LOCK" "ARGS;ENV" ${ARGN})
  if(NOT EXISTS ${A_SCRIPT})
    return()
  endif()
  add_test(NAME ${name} COMMAND sh ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/progress.sh ${name}
    ${A_SCRIPT} ${A_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS ${A_LABEL} TIMEOUT ${A_TIMEOUT} RUN_SERIAL ON
    SKIP_RETURN_CODE 77
    ENVIRONMENT "${toolbox};WORK=${out}/${name};${A_ENV}")
  if(A_COMPILES)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL OFF COST 1000)
  elseif(A_WAITS)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL OFF COST 500)
  endif()
  if(A_LOCK)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK ${A_LOCK})
  endif()
endfunction()

armci_suite(build SCRIPT ${here}/build/run.sh LABEL build TIMEOUT 400 COMPILES)
armci_suite(build/wrappers SCRIPT ${here}/build/wrappers.sh LABEL build TIMEOUT 100)
armci_suite(build/lowest SCRIPT ${here}/build/lowest.sh LABEL build TIMEOUT 400 COMPILES)
armci_suite(aarch64 SCRIPT ${here}/aarch64/run.sh LABEL aarch64 TIMEOUT 600 COMPILES)
foreach(processor ppc64le riscv64)
  armci_suite(${processor} SCRIPT ${here}/aarch64/other.sh LABEL aarch64 TIMEOUT 300 COMPILES
    ENV "PROCESSOR=${processor}")
endforeach()
armci_suite(reference SCRIPT ${here}/reference/run.sh LABEL install TIMEOUT 200)
armci_suite(install/missing SCRIPT ${here}/install/missing.sh LABEL install TIMEOUT 60)
armci_suite(install SCRIPT ${here}/install/run.sh LABEL install TIMEOUT 300)

# What the library does alone is not repeated under an MPI, whose launcher takes seconds to end a
# job: it matters to how a job starts, and to what ends the other ranks. Two tests are alone: one
# that wants all memory, and one that mounts.
set(parts_mpich kill signal leave)
set(parts_openmpi ${parts_mpich} fatal)
set(parts_none ${parts_openmpi} vain careless foreign exits receive sent stop memory shm)
set(more_none "accumulates counter late bcast receive event until malloc")
set(more_openmpi "late malloc")
set(more_mpich ${more_openmpi})
foreach(flavour none openmpi mpich)
  if(flavour IN_LIST ARMCI_CAN_CC)
    set(launcher ${launcher_${flavour}})
    foreach(part IN LISTS parts_${flavour})
      set(waits WAITS)
      if(part MATCHES "memory|shm")
        set(waits "")
      endif()
      armci_suite(fault/${launcher}/${part} SCRIPT ${here}/fault/run.sh LABEL fault TIMEOUT 400
        ${waits} ENV "FAULT_LAUNCHERS=${flavour};FAULT_PARTS=${part};FAULT_WAYS=puts barrier lock")
    endforeach()
    armci_suite(fault/${launcher}/kill/more SCRIPT ${here}/fault/run.sh LABEL fault TIMEOUT 400
      WAITS ENV "FAULT_LAUNCHERS=${flavour};FAULT_PARTS=kill;FAULT_WAYS=${more_${flavour}}")
  endif()
endforeach()

if("none" IN_LIST ARMCI_CAN_CC) # on nodes whose processes have hardly any connections
  armci_suite(fault/armcirun/bounded SCRIPT ${here}/fault/run.sh LABEL fault TIMEOUT 200 WAITS
    ENV "FAULT_LAUNCHERS=none;FAULT_PARTS=kill;FAULT_WAYS=puts counter"
      "FAULT_NODES=4;ARMCI_CONNECTIONS=1")
endif()
# MPICH's launcher kills all ranks at once: the rank of the other node must not be blamed.
if("mpich" IN_LIST ARMCI_CAN_CC)
  armci_suite(fault/mpich/nodes SCRIPT ${here}/fault/run.sh LABEL fault TIMEOUT 200 WAITS
    ENV "FAULT_LAUNCHERS=mpich;FAULT_PARTS=kill;FAULT_WAYS=puts;FAULT_NODES=2")
endif()
armci_suite(fault/crash SCRIPT ${here}/fault/crash.sh LABEL fault TIMEOUT 400)
armci_suite(fault/limits SCRIPT ${here}/fault/limits.sh LABEL fault TIMEOUT 400)
armci_suite(fault/leaks SCRIPT ${here}/fault/leaks.sh LABEL fault TIMEOUT 100)
# Strangers from another user, see strangers.sh: PAUSE,BYTES,ADDRESSES,HOLD,MILLISECONDS. Those of
# `more` visit one job each.
set(cases "")
foreach(bytes 0 12 95 96)
  foreach(rest 1,2000,0 4,1000,100)
    string(APPEND cases " 0,${bytes},${rest} 1000,${bytes},${rest}")
  endforeach()
endforeach()
armci_suite(fault/strangers SCRIPT ${here}/fault/strangers.sh LABEL fault TIMEOUT 200)
armci_suite(fault/strangers/more SCRIPT ${here}/fault/strangers.sh LABEL fault TIMEOUT 400
  ENV STRANGERS_JOBS=1 "STRANGERS_CASES=${cases}")
armci_suite(fault/strangers/pmi SCRIPT ${here}/fault/strangers.sh LABEL fault TIMEOUT 400
  ENV "STRANGERS_HOW=mpich openmpi")
armci_suite(fault/mistakes SCRIPT ${here}/fault/mistakes.sh LABEL fault TIMEOUT 200)
armci_suite(fault/nth SCRIPT ${here}/fault/nth.sh LABEL fault TIMEOUT 400 WAITS)
armci_suite(fault/nth/malloc SCRIPT ${here}/fault/nth.sh LABEL fault TIMEOUT 400 WAITS
  ARGS malloc:ENOMEM:1:80 ENV NTH_PROGRAM=message)
# On one node: calls of the rank that makes the shared memory, and of one that gets it.
set(rank_leader 0)
set(rank_member 1)
foreach(part leader member)
  armci_suite(fault/nth/node/${part} SCRIPT ${here}/fault/nth.sh LABEL fault TIMEOUT 400 WAITS
    ARGS socket:EMFILE:1:8 connect:ECONNREFUSED:1:4 bind:EADDRNOTAVAIL:1:4 listen:EADDRINUSE:1:4
      accept4:EMFILE:1:3 epoll_create1:EMFILE:1:3 epoll_ctl:ENOMEM:1:6 eventfd2:EMFILE:1:4
      memfd_create:ENOMEM:1:5 ftruncate:ENOSPC:1:5 mmap:ENOMEM:20:40 clone3,clone:EAGAIN:1:6
      sendmsg:ENOBUFS:1:20 recvmsg:ENOMEM:1:5 openat:EMFILE:12:26 getsockopt:ENOBUFS:1:4
    ENV NTH_NODES=1 NTH_RANK=${rank_${part}})
  armci_suite(fault/nth/node/${part}/malloc SCRIPT ${here}/fault/nth.sh LABEL fault TIMEOUT 400
    WAITS ARGS malloc:ENOMEM:1:28
    ENV NTH_NODES=1 NTH_RANK=${rank_${part}} "NTH_PROGRAM=message mutex")
endforeach()
armci_suite(fault/messages SCRIPT ${here}/fault/messages.sh LABEL fault TIMEOUT 200)

# MPI 5's standard ABI over a stub of it, and that no MPI is taken for another.
foreach(part values programs windows more known)
  armci_suite(abi/standard/${part} SCRIPT ${here}/abi/standard/run.sh LABEL abi TIMEOUT 300
    ARGS ${part})
endforeach()

armci_suite(checkpoint SCRIPT ${here}/checkpoint/run.sh LABEL fault TIMEOUT 200 WAITS)
armci_suite(stats SCRIPT ${here}/stats/run.sh LABEL stats TIMEOUT 200)

armci_suite(limited SCRIPT ${here}/limited/run.sh LABEL ga TIMEOUT 100 COMPILES) # it sleeps
# Global Arrays: each number of ranks, and ranks on nodes in any order, under Open MPI; under MPICH
# four ranks, and those between nodes (hosts.cmake).
set(ranks_openmpi 2)
set(ranks_mpich 4)
foreach(flavour openmpi mpich)
  if(flavour IN_LIST ARMCI_FLAVOURS)
    armci_suite(ga/${flavour} SCRIPT ${here}/ga/run.sh LABEL ga TIMEOUT 900
      WAITS ARGS ${flavour} ${ARMCI_LIBDIR_${flavour}} ${out}/ga/${flavour}
      ENV GA_RANKS=${ranks_${flavour}} GA_PLACEMENTS=)
  endif()
endforeach()
if(openmpi IN_LIST ARMCI_FLAVOURS)
  armci_suite(ga/openmpi/more SCRIPT ${here}/ga/run.sh LABEL ga TIMEOUT 900 WAITS
    ARGS openmpi ${ARMCI_LIBDIR_openmpi} ${out}/ga/openmpi ENV "GA_RANKS=1 4")
  set_tests_properties(ga/openmpi/more PROPERTIES DEPENDS ga/openmpi)
endif()
# By Global Arrays' own CMake files, where the environment says where its sources are.
if(openmpi IN_LIST ARMCI_CAN_FC)
  armci_suite(ga/cmake SCRIPT ${here}/ga/cmake.sh LABEL ga TIMEOUT 2400 COMPILES)
endif()
if(openmpi IN_LIST ARMCI_FLAVOURS)
  armci_suite(nwchem SCRIPT ${here}/nwchem/run.sh LABEL nwchem TIMEOUT 1500 COMPILES
    ARGS ${out}/nwchem ${ARMCI_LIBDIR_openmpi} ENV NWCHEM_OPTIMIZE=-O0)
endif()
