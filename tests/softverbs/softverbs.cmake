# The software verbs device (README.md), and what runs over it, label softverbs: raw verbs, the Go
# tests of the RDMA transport, programs on pretended nodes. Nothing of it is installed.
# SPDX-License-Identifier: BSD-3-Clause

if(NOT ARMCI_VERBS_INCLUDE)
  armci_skip(softverbs/raw "no <infiniband/verbs.h> to build with (package libibverbs-dev)")
  return()
endif()
set(soft ${here}/softverbs)
file(GLOB sources CONFIGURE_DEPENDS ${soft}/*.c)
list(FILTER sources EXCLUDE REGEX "/(sysfs|mlx5|messages|raw[a-z_]*)\\.c$")
add_library(softverbs SHARED EXCLUDE_FROM_ALL ${sources})
target_compile_options(softverbs PRIVATE ${ARMCI_CFLAGS})
target_include_directories(softverbs PRIVATE ${ARMCI_VERBS_INCLUDE})
target_link_options(softverbs PRIVATE -Wl,--version-script=${soft}/libibverbs.map)
target_link_libraries(softverbs PRIVATE pthread)
set_target_properties(softverbs PROPERTIES OUTPUT_NAME ibverbs SOVERSION 1
  LIBRARY_OUTPUT_DIRECTORY ${out}/softverbs
  LINK_DEPENDS ${soft}/libibverbs.map)

# With this beside it UCX, and so MPIs, can use the device.
add_library(softverbs_mlx5 SHARED EXCLUDE_FROM_ALL ${soft}/mlx5.c)
target_compile_options(softverbs_mlx5 PRIVATE ${ARMCI_CFLAGS})
target_link_options(softverbs_mlx5 PRIVATE -Wl,--version-script=${soft}/libmlx5.map)
set_target_properties(softverbs_mlx5 PROPERTIES OUTPUT_NAME mlx5 SOVERSION 1
  LIBRARY_OUTPUT_DIRECTORY ${out}/softverbs LINK_DEPENDS ${soft}/libmlx5.map)

add_executable(softverbs_sysfs EXCLUDE_FROM_ALL ${soft}/sysfs.c)
file(GLOB sources CONFIGURE_DEPENDS ${soft}/raw*.c)
add_executable(softverbs_raw EXCLUDE_FROM_ALL ${sources})
target_link_libraries(softverbs_raw PRIVATE softverbs)
set_target_properties(softverbs_sysfs PROPERTIES OUTPUT_NAME softverbs-sysfs)
set_target_properties(softverbs_raw PROPERTIES OUTPUT_NAME raw)
foreach(target softverbs_sysfs softverbs_raw)
  target_compile_options(${target} PRIVATE ${ARMCI_CFLAGS})
  target_include_directories(${target} PRIVATE ${ARMCI_VERBS_INCLUDE})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${out}/softverbs)
endforeach()
add_dependencies(armci_tests softverbs softverbs_mlx5 softverbs_sysfs softverbs_raw)
armci_go_test(softverbs_transport OUTPUT ${out}/softverbs/transport PACKAGE internal/rdma)

# armci_softverbs(<name> SECONDS <s> [WAITS] COMMAND <command> <argument>... [ENV NAME=value...])
function(armci_softverbs name)
  cmake_parse_arguments(A "WAITS" "SECONDS" "COMMAND;ENV" ${ARGN})
  set(waits "")
  if(A_WAITS)
    set(waits WAITS)
  endif()
  armci_suite(softverbs/${name} SCRIPT ${soft}/with.sh LABEL softverbs TIMEOUT ${A_SECONDS} ${waits}
    ARGS ${out}/softverbs ${A_COMMAND} ENV "${A_ENV}")
endfunction()

# MPIs over UCX over the device: what the figures over RDMA are beside (bench/launch).
foreach(flavour openmpi mpich)
  if(flavour IN_LIST ARMCI_FLAVOURS)
    set(program ${out}/softverbs/messages-${flavour})
    armci_program(OUTPUT ${program} FLAVOUR ${flavour} TARGET armci_tests
      SOURCES ${soft}/messages.c)
    armci_softverbs(ucx/${flavour} SECONDS 100 COMMAND sh ${soft}/ucx.sh ${flavour} ${program}
      ENV SOFTVERBS_UCX=1)
  endif()
endforeach()

armci_softverbs(nth SECONDS 300 WAITS ENV ARMCI_TRANSPORT=rdma COMMAND sh ${here}/fault/nth.sh
  ibv_open_device:ENOMEM:1:4 ibv_alloc_pd:ENOMEM:1:4 ibv_reg_mr:ENOMEM:1:16
  ibv_create_comp_channel:ENOMEM:1:6 ibv_create_cq:ENOMEM:1:6 ibv_create_srq:ENOMEM:1:6
  ibv_create_qp:ENOMEM:1:6 ibv_create_ah:ENOMEM:1:3 ibv_modify_qp:ENOMEM:1:12
  ibv_req_notify_cq:ENOMEM:1:8 ibv_post_srq_recv:ENOMEM:1:8 ibv_post_send:ENOMEM:1:12)
armci_softverbs(nth/malloc SECONDS 300 WAITS ENV ARMCI_TRANSPORT=rdma NTH_PROGRAM=message
  COMMAND sh ${here}/fault/nth.sh malloc:ENOMEM:14:60)
armci_softverbs(nth/system SECONDS 300 WAITS ENV ARMCI_TRANSPORT=rdma
  COMMAND sh ${here}/fault/nth.sh socket:EMFILE:1:8 bind:EADDRNOTAVAIL:1:3
  epoll_create1:EMFILE:1:5 epoll_ctl:ENOMEM:1:5 eventfd2:EMFILE:1:8 memfd_create:ENOMEM:1:4
  ftruncate:ENOSPC:1:4 mmap:ENOMEM:30:70 clone3,clone:EAGAIN:1:10)
armci_softverbs(crash SECONDS 60 COMMAND sh ${soft}/crash.sh)
armci_softverbs(raw SECONDS 120 COMMAND ${out}/softverbs/raw)
# All tests of the transport take 200 s, most of which are timeouts; those run in the virtual
# machine (vm/rdma/transport). By hand:
# with.sh ${out}/softverbs sh transport.sh ${out}/softverbs/transport
armci_softverbs(transport/fabric SECONDS 200 WAITS COMMAND ${out}/softverbs/transport
  -test.timeout=3m -test.run=TestFabric "-test.skip=^TestFabric\$/^buffered\$/^refused\$/^origin\$")
set_tests_properties(softverbs/transport/fabric PROPERTIES COST 600) # it waits longest
armci_softverbs(transport/strangers SECONDS 100 WAITS
  COMMAND ${out}/softverbs/transport -test.timeout=90s -test.run=TestStrangerDatagrams)
armci_softverbs(transport/many SECONDS 100 WAITS
  COMMAND ${out}/softverbs/transport -test.timeout=90s "-test.run=TestManyAtOnce|TestNobodyAnswers")
armci_softverbs(transport/infiniband SECONDS 200 WAITS ENV SOFTVERBS_LINK=infiniband
  COMMAND ${out}/softverbs/transport -test.timeout=3m
    "-test.run=TestConformance|TestForced|TestIdlePeerKilled|TestMixBounded")
armci_softverbs(transport/on_demand SECONDS 200 WAITS
  ENV SOFTVERBS_ODP=1 SOFTVERBS_ATOMICS=global SOFTVERBS_REORDER=1
  COMMAND ${out}/softverbs/transport -test.timeout=3m
    "-test.run=TestConformance|TestForced|TestOnDemand|TestSlots")
armci_softverbs(transport/late SECONDS 200 ENV SOFTVERBS_LATE=20000
  COMMAND ${out}/softverbs/transport -test.timeout=3m "-test.run=TestConformance/^2x2|TestForced")
# Without atomics of the device: a lost answer of one ends the job.
armci_softverbs(transport/breaks SECONDS 200 WAITS
  ENV SOFTVERBS_BREAK_EVERY=3000 SOFTVERBS_ATOMICS=none
  COMMAND ${out}/softverbs/transport -test.timeout=3m
    "-test.run=TestConformance\$/^(2x2|zerocopy|push)|TestMixBounded")
armci_softverbs(transport/limits SECONDS 200
  ENV SOFTVERBS_MAX_WR=64 SOFTVERBS_INLINE=0 SOFTVERBS_MAX_SGE=2 SOFTVERBS_MAX_SRQ=64
    SOFTVERBS_MAX_CQE=256
  COMMAND sh ${soft}/transport.sh ${out}/softverbs/transport
    "TestConformance/^(2x2|zerocopy)|TestForced")
if("none" IN_LIST ARMCI_CAN_CC)
  set(rooms c)
  if("none" IN_LIST ARMCI_CAN_FC AND TARGET armci_fortran)
    list(APPEND rooms fortran)
  endif()
  armci_softverbs(programs/2x2 SECONDS 600 WAITS
    COMMAND sh ${here}/hosts/run.sh nodes none 2x2 ${rooms}
    ENV ARMCI_TRANSPORT=rdma HOSTS_WITHOUT=idle)
  armci_softverbs(programs/device_acc SECONDS 200 WAITS
    COMMAND sh ${here}/hosts/run.sh nodes none 2x2 few
    ENV ARMCI_TRANSPORT=rdma ARMCI_RDMA_ACC=device
      "HOSTS_PROGRAMS=accumulate accumulate_contention strided vector model")
  armci_softverbs(programs/bounded SECONDS 200 WAITS
    COMMAND sh ${here}/hosts/run.sh nodes none 4x1 few
    ENV ARMCI_TRANSPORT=rdma ARMCI_CONNECTIONS=1 ARMCI_PIN=64k
      "HOSTS_PROGRAMS=contiguous strided vector accumulate rmw notify message gop model")
  # The C fast path where completions are late, where a queue pair has little room, and without it.
  string(CONCAT transfers "short contiguous requests nonblocking shared_handle order fence "
    "value flag notify threads strided vector read_write_strided coalesce remap model")
  armci_softverbs(programs/late SECONDS 200 WAITS
    COMMAND sh ${here}/hosts/run.sh nodes none 2x2 few
    ENV ARMCI_TRANSPORT=rdma SOFTVERBS_LATE=20000 "HOSTS_PROGRAMS=${transfers}")
  armci_softverbs(programs/rows SECONDS 200 WAITS
    COMMAND sh ${here}/hosts/run.sh nodes none 2x2 few
    ENV ARMCI_TRANSPORT=rdma SOFTVERBS_LATE=20000 "HOSTS_PROGRAMS=requests strided vector model"
      "ARMCI_COST_MODEL=put.nic=1,1,0 get.nic=1,1,0 put.host=9e9,0,1 get.host=9e9,0,1")
  armci_softverbs(programs/limits SECONDS 200 WAITS
    COMMAND sh ${here}/hosts/run.sh nodes none 2x2 few
    ENV ARMCI_TRANSPORT=rdma SOFTVERBS_MAX_WR=64 SOFTVERBS_MAX_CQE=256
      "HOSTS_PROGRAMS=${transfers}")
  armci_softverbs(programs/without_fast_path SECONDS 200 WAITS
    COMMAND sh ${here}/hosts/run.sh nodes none 2x2 few
    ENV ARMCI_TRANSPORT=rdma ARMCI_FASTPATH=n "HOSTS_PROGRAMS=${transfers}")
  armci_softverbs(devices SECONDS 200 WAITS
    COMMAND sh ${soft}/devices.sh ${out}/c/none/contiguous
    ENV SOFTVERBS_DEVICES=2 SOFTVERBS_LINK=infiniband)
  armci_softverbs(outage SECONDS 300 WAITS COMMAND sh ${soft}/outage.sh)
  armci_softverbs(fault SECONDS 200 COMMAND sh ${here}/fault/run.sh
    ENV ARMCI_TRANSPORT=rdma FAULT_LAUNCHERS=none FAULT_PARTS=device)
  armci_softverbs(fault_alone SECONDS 100 COMMAND sh ${here}/fault/run.sh
    ENV ARMCI_TRANSPORT=rdma FAULT_LAUNCHERS=none FAULT_PARTS=alone)
  armci_softverbs(hosts/2x1 SECONDS 300 COMMAND sh ${here}/hosts/run.sh hosts none 2x1 few
    ENV ARMCI_TRANSPORT=rdma SOFTVERBS_HOSTS=1)
endif()
