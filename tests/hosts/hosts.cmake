# The programs on several nodes: pretended ones (label nodes), and hosts as network namespaces
# (label hosts), under every launcher; what can go wrong between hosts; how connections grow, and
# programs with hardly any. One test is one launcher, one shape (nodes x ranks) and one room of
# programs; run.sh says which these are. 1x4 is what programs.cmake runs on 4 ranks.
#
#                   armcirun    an MPI
#   nodes 2x2       all         few, Global Arrays (Open MPI)
#   nodes 4x1       one half
#   nodes, cyclic   some        Global Arrays (Open MPI)
#   hosts 2x1       the other   few, Fortran, Global Arrays (Open MPI)
#   hosts 2x2       few         some
#   hosts 8x1       few         some (MPICH: 4x1)
#
# "few" are the programs that do most between nodes. An MPI starts and ends the ranks, and nothing
# else of what is between nodes is its: so all programs run under armcirun.
# SPDX-License-Identifier: BSD-3-Clause

set(shapes_nodes 2x2 4x1)
set(shapes_hosts 2x1 2x2)
set(lock_hosts LOCK hosts)
set(some "HOSTS_PROGRAMS=init strided fence notify group_use gop") # what a launcher may matter to

# The namespaces are the same for all.
foreach(flavour IN LISTS ARMCI_CAN_CC)
  set(launcher ${launcher_${flavour}})
  set(rooms c)
  if(flavour IN_LIST ARMCI_CAN_FC AND TARGET armci_fortran)
    list(APPEND rooms fortran)
  endif()
  if(flavour IN_LIST ARMCI_FLAVOURS)
    list(APPEND rooms ga)
  endif()
  foreach(mode nodes hosts)
    foreach(shape IN LISTS shapes_${mode})
      set(here_rooms ${rooms})
      set(with "")
      if(NOT "${shape}" STREQUAL 2x1) # eight seconds of rest in each
        set(with "HOSTS_WITHOUT=idle")
      endif()
      if("${flavour} ${mode} ${shape}" STREQUAL "none nodes 4x1")
        list(APPEND with HOSTS_HALF=0)
      elseif("${flavour} ${mode} ${shape}" STREQUAL "none hosts 2x1")
        list(APPEND with HOSTS_HALF=1)
      endif()
      if("${mode} ${shape}" STREQUAL "hosts 2x2")
        set(here_rooms few)
        if(NOT flavour STREQUAL none)
          set(with ${some})
        endif()
      elseif(NOT flavour STREQUAL none)
        if(shape STREQUAL 4x1)
          continue()
        endif()
        list(TRANSFORM here_rooms REPLACE "^c$" few)
        if(flavour STREQUAL mpich)
          list(REMOVE_ITEM here_rooms ga) # what is between nodes is the same as under Open MPI
        endif()
        if(mode STREQUAL nodes)
          list(REMOVE_ITEM here_rooms fortran)
        endif()
      endif()
      foreach(room IN LISTS here_rooms)
        armci_suite(${mode}/${launcher}/${shape}/${room} SCRIPT ${here}/hosts/run.sh LABEL ${mode}
          TIMEOUT 600 WAITS ${lock_${mode}}
          ARGS ${mode} ${flavour} ${shape} ${room} ENV ${with})
      endforeach()
      if("ga" IN_LIST here_rooms)
        set_tests_properties(${mode}/${launcher}/${shape}/ga PROPERTIES DEPENDS ga/${flavour})
      endif()
    endforeach()
  endforeach()
  # Ranks of a node that are not neighbours: Global Arrays, and what is about nodes.
  if("ga" IN_LIST rooms AND flavour STREQUAL openmpi)
    armci_suite(nodes/${launcher}/cyclic SCRIPT ${here}/hosts/run.sh LABEL nodes TIMEOUT 300 WAITS
      ARGS nodes ${flavour} 2x2 ga ENV HOSTS_MAP=cyclic)
    set_tests_properties(nodes/${launcher}/cyclic PROPERTIES DEPENDS ga/${flavour})
  elseif(flavour STREQUAL none)
    armci_suite(nodes/armcirun/cyclic SCRIPT ${here}/hosts/run.sh LABEL nodes TIMEOUT 300 WAITS
      ARGS nodes none 2x2 few ENV HOSTS_MAP=cyclic
      "HOSTS_PROGRAMS=strided mutex group_use message gop bcast cluster domain model")
  endif()
  # Each program and each fault under armcirun; under an MPI, where ranks and launchers take longer,
  # what differs by it: the start, what ends the job, and how long its launcher waits.
  set(programs "")
  set(faults "")
  set(most 8x1)
  if(flavour STREQUAL mpich)
    set(most 4x1) # eight of its ranks poll on two processors for a minute
  endif()
  if(NOT flavour STREQUAL none)
    set(programs ENV ${some})
    set(parts kill=puts,receive node=puts link=barrier)
    if(flavour STREQUAL mpich) # the launcher that may end one host only
      list(INSERT parts 1 exit)
    endif()
    list(JOIN parts " " parts)
    set(faults ENV "HOSTS_PARTS=${parts}")
  endif()
  armci_suite(hosts/${launcher}/${most}/few SCRIPT ${here}/hosts/run.sh LABEL hosts TIMEOUT 600
    WAITS LOCK hosts ARGS hosts ${flavour} ${most} few ${programs})
  if(NOT flavour STREQUAL mpich)
    armci_suite(hosts/${launcher}/reconnect SCRIPT ${here}/hosts/reconnect.sh LABEL hosts
      TIMEOUT 400 WAITS LOCK hosts ARGS ${flavour})
  endif()
  armci_suite(hosts/${launcher}/fault SCRIPT ${here}/hosts/fault.sh LABEL hosts TIMEOUT 400 WAITS
    LOCK hosts ARGS ${flavour} ${faults})
endforeach()

# What these tests say of programs that are not built.
armci_suite(nodes/unbuilt SCRIPT ${here}/hosts/unbuilt.sh LABEL nodes TIMEOUT 60)

# Kinds of networks; growth with 16 ranks on 8 nodes, 64 on 2, 64 on 8; a start of 512 ranks on 64
# nodes. An MPI's own connections would be among those counted.
if("none" IN_LIST ARMCI_CAN_CC)
  set(programs "contiguous strided vector accumulate nonblocking message notify fence gop model")
  armci_suite(hosts/armcirun/networks SCRIPT ${here}/hosts/networks.sh LABEL hosts TIMEOUT 400)
  armci_suite(nodes/armcirun/bounded SCRIPT ${here}/hosts/run.sh LABEL nodes TIMEOUT 200 WAITS
    ARGS nodes none 4x1 few ENV ARMCI_CONNECTIONS=1 "HOSTS_PROGRAMS=${programs}")
  armci_suite(nodes/armcirun/growth SCRIPT ${here}/hosts/growth.sh LABEL nodes TIMEOUT 600
    ARGS 8x2 2x32 8x8)
  armci_suite(nodes/armcirun/many SCRIPT ${here}/hosts/growth.sh LABEL nodes TIMEOUT 300 ARGS 64x8
    ENV PROGRAM=many)
endif()
