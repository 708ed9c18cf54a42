# Tests in the virtual machine, label vm: that it does what it should, verbs between its hosts, and
# the programs of other rooms there. One test is one boot, of 5 to 30 seconds, so a test runs many
# programs: the scripts of tests/hosts do so as they are. Emulated, all takes several times as long
# as elsewhere.
# SPDX-License-Identifier: BSD-3-Clause

# armci_vm(<name> SECONDS <s> COMMAND <script> <argument>... [OPTIONS <of vm.sh>...] [ENV
# NAME=value...])
function(armci_vm name)
  cmake_parse_arguments(A "" "SECONDS" "COMMAND;OPTIONS;ENV" ${ARGN})
  math(EXPR limit "${A_SECONDS} + 240") # to fetch the kernel and to boot
  armci_suite(vm/${name} SCRIPT ${here}/vm/vm.sh LABEL vm TIMEOUT ${limit} ENV "${A_ENV}"
    ARGS -t ${A_SECONDS} ${A_OPTIONS} -- sh ${A_COMMAND})
endfunction()

if(ARMCI_VERBS_INCLUDE AND ARMCI_VERBS_LIBRARY)
  set(verbs ${PROJECT_SOURCE_DIR}/bench/verbs) # connections by bare verbs
  set(timing ${PROJECT_SOURCE_DIR}/cmd/armci_perf/worker) # clock, samples, lines
  file(GLOB sources CONFIGURE_DEPENDS ${here}/vm/raw/*.c ${verbs}/*.c ${timing}/timing.c)
  add_executable(vm_raw EXCLUDE_FROM_ALL ${sources})
  target_compile_options(vm_raw PRIVATE ${ARMCI_CFLAGS})
  target_include_directories(vm_raw PRIVATE ${ARMCI_VERBS_INCLUDE} ${verbs} ${timing})
  target_link_libraries(vm_raw PRIVATE ${ARMCI_VERBS_LIBRARY})
  set_target_properties(vm_raw PROPERTIES OUTPUT_NAME raw RUNTIME_OUTPUT_DIRECTORY ${out}/vm)
  add_dependencies(armci_tests vm_raw)
  armci_vm(boot SECONDS 120 OPTIONS -n 2 -l 16384 COMMAND ${here}/vm/boot.sh ${out}/vm/raw)

  # armci_vm_programs(<name> SECONDS <s> FLAVOUR <f> SHAPE <nodes x ranks> ROOMS <room>...
  # [OPTIONS...] [ENV...])
  function(armci_vm_programs name)
    cmake_parse_arguments(A "" "SECONDS;FLAVOUR;SHAPE" "ROOMS;OPTIONS;ENV" ${ARGN})
    armci_vm(rdma/${name} SECONDS ${A_SECONDS} OPTIONS ${A_OPTIONS}
      ENV ARMCI_TRANSPORT=rdma ${A_ENV}
      COMMAND ${here}/hosts/run.sh hosts ${A_FLAVOUR} ${A_SHAPE} ${A_ROOMS})
  endfunction()

  # The library over verbs: the transport alone, then programs.
  set(transport ${out}/softverbs/transport) # the same program
  armci_vm(rdma/transport SECONDS 1300 OPTIONS -n 2
    COMMAND ${here}/vm/transport.sh ${transport} rest)
  if("none" IN_LIST ARMCI_CAN_CC)
    # The programs of tests/c that differ in what they ask of a device, most on two ranks, since
    # four wait for processors more than for each other; but for flags, because Soft-RoCE copies
    # small blocks byte by byte. Each takes 15 s, most of them only to begin. All programs run over
    # the device in software, natively (softverbs/programs/2x2).
    set(on_two "atomic order nonblocking flag children")
    set(on_four "mutex notify contiguous accumulate rmw")
    set(on_four_hosts "concurrent strided message")
    set(with_little "remap contiguous strided")
    separate_arguments(programs UNIX_COMMAND "${on_four}")
    armci_vm(check SECONDS 900 COMMAND ${here}/vm/check.sh ${transport} ${programs})
    armci_vm_programs(2x1 SECONDS 1000 FLAVOUR none SHAPE 2x1 ROOMS few
      ENV "HOSTS_PROGRAMS=${on_two}")
    # Where 8 MiB may be pinned, most memory goes through buffers, with one warning for each process
    # at most.
    armci_vm(rdma/locked SECONDS 600 OPTIONS -l 8192 COMMAND ${here}/vm/locked.sh
      ENV ARMCI_TRANSPORT=rdma "HOSTS_PROGRAMS=${with_little}")
    # Four hosts, with the least memory that can be had: 8 MiB that a process may pin, 1 MiB of
    # buffers.
    armci_vm_programs(4x1 SECONDS 800 FLAVOUR none SHAPE 4x1 ROOMS few OPTIONS -l 8192
      ENV ARMCI_BUFFER=1M
      "HOSTS_PROGRAMS=${on_four_hosts}")
    armci_vm(rdma/fault SECONDS 1000 COMMAND ${here}/hosts/fault.sh none ENV ARMCI_TRANSPORT=rdma
      "HOSTS_PARTS=kill=puts node=puts link=barrier device=puts stop")
    armci_vm(rdma/outage SECONDS 500 COMMAND ${here}/vm/outage.sh)
  endif()
  if("openmpi" IN_LIST ARMCI_CAN_CC)
    set(programs "fortran/with_mpi ga/patches")
    armci_vm_programs(openmpi/2x2 SECONDS 800 FLAVOUR openmpi SHAPE 2x2 ROOMS few
      ENV "HOSTS_PROGRAMS=${programs}")
    if("openmpi" IN_LIST ARMCI_FLAVOURS)
      set_tests_properties(vm/rdma/openmpi/2x2 PROPERTIES DEPENDS ga/openmpi)
    endif()
  endif()
else()
  armci_skip(vm/boot "no libibverbs to build with (package libibverbs-dev)")
endif()

armci_suite(vm/frame SCRIPT ${here}/vm/frame.sh LABEL vm TIMEOUT 600)
