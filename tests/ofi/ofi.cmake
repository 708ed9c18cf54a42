# The library over providers of libfabric, label ofi: tcp and udp between hosts (network
# namespaces), shm between pretended nodes, verbs in the virtual machine (label vm). All programs of
# tests/c, Fortran, Global Arrays, kills.
# SPDX-License-Identifier: BSD-3-Clause

set(ofi ${here}/ofi)
find_program(ARMCI_FI_INFO fi_info DOC "libfabric's program that lists providers, for tests only")
if(NOT ARMCI_FI_INFO)
  armci_skip(ofi "no fi_info (packages libfabric1, libfabric-bin)")
  return()
endif()
armci_go_test(ofi_fabric OUTPUT ${out}/ofi/fabric PACKAGE internal/ofi)

# armci_ofi(<provider>/<name> SECONDS <s> [WAITS] COMMAND <script> <argument>...
#           [ENV NAME=value...])
function(armci_ofi name)
  cmake_parse_arguments(A "WAITS" "SECONDS" "COMMAND;ENV" ${ARGN})
  string(REGEX REPLACE "/.*" "" provider ${name})
  set(waits "")
  if(A_WAITS)
    set(waits WAITS LOCK hosts)
  endif()
  armci_suite(ofi/${name} SCRIPT ${ofi}/over.sh LABEL ofi TIMEOUT ${A_SECONDS} ${waits}
    ARGS ${provider} sh ${A_COMMAND} ENV "${A_ENV}")
endfunction()

# The conformance tests, without those of them that are mostly time limits of what is not the
# provider's; over udp also without the other protocols. Over shm there are none: its endpoints must
# not be in one process.
set(limits "-test.skip=^TestFabric\$/^(refused|close)\$/^(origin|both)\$")
armci_ofi(tcp/fabric SECONDS 300 COMMAND ${ofi}/fabric.sh ${out}/ofi/fabric ${limits}
  ENV ARMCI_OFI_DOMAIN=lo)
armci_ofi(udp/fabric SECONDS 300 COMMAND ${ofi}/fabric.sh ${out}/ofi/fabric ${limits}
  "-test.run=TestFabric|TestConformance/2x2"
  ENV ARMCI_OFI_DOMAIN=lo)

# The programs that differ by the provider: what it orders, completes and has room for. The rest is
# the engine's and runs over the verbs device in software (softverbs/programs/2x2); by hand: over.sh
# udp sh ../hosts/run.sh hosts none 2x1 c, with the settings that ctest -V shows.
string(CONCAT most "HOSTS_PROGRAMS=contiguous requests flags strided vector accumulate rmw mutex "
  "fence order notify message nonblocking threads remap model")
if("none" IN_LIST ARMCI_CAN_CC)
  armci_ofi(tcp/2x1/few SECONDS 600 WAITS COMMAND ${here}/hosts/run.sh hosts none 2x1 few
    ENV ${most})
  armci_ofi(udp/2x1/few SECONDS 300 WAITS COMMAND ${here}/hosts/run.sh hosts none 2x1 few
    ENV ${most})
  armci_ofi(shm/2x1/few SECONDS 300 WAITS COMMAND ${here}/hosts/run.sh nodes none 2x1 few
    ENV ${most})
  armci_ofi(tcp/4x1/few SECONDS 300 WAITS COMMAND ${here}/hosts/run.sh hosts none 4x1 few
    ENV "HOSTS_PROGRAMS=concurrent strided message model")
  # Links that are down for a while: the kernel's connections wait.
  armci_ofi(tcp/outage SECONDS 200 WAITS COMMAND ${here}/hosts/reconnect.sh none
    ENV RECONNECT_PARTS=link "RECONNECT_OUTAGES=link:2 switch:5")
  # The nth call of libfabric fails.
  armci_ofi(tcp/nth SECONDS 300 WAITS COMMAND ${here}/fault/nth.sh fi_getinfo:ENOMEM:1:4
    fi_dupinfo:ENOMEM:1:6 fi_fabric:ENOMEM:1:3 fi_domain:ENOMEM:1:3 fi_cq_open:ENOMEM:1:6
    fi_av_open:ENOMEM:1:6 fi_endpoint:ENOMEM:1:6 fi_ep_bind:ENOMEM:1:4 fi_enable:ENOMEM:1:6
    fi_av_insert:ENOMEM:1:4 fi_mr_reg:ENOMEM:1:10 fi_recv:ENOMEM:1:6 fi_sendmsg:ENOMEM:1:10
    fi_writemsg:ENOMEM:1:6 fi_readmsg:ENOMEM:1:6 ENV ARMCI_OFI_DOMAIN=lo NTH_PROGRAM=contiguous)
  armci_ofi(tcp/nth/system SECONDS 400 WAITS COMMAND ${here}/fault/nth.sh socket:EMFILE:1:8
    connect:ECONNREFUSED:1:5 bind:EADDRNOTAVAIL:1:3 listen:EADDRINUSE:1:3 epoll_ctl:ENOMEM:1:6
    eventfd2:EMFILE:1:8 clone3,clone:EAGAIN:1:6 sendmsg:ECONNRESET:1:5 recvfrom:ECONNRESET:1:6
    ENV ARMCI_OFI_DOMAIN=lo)
  armci_ofi(tcp/nth/malloc SECONDS 300 WAITS COMMAND ${here}/fault/nth.sh malloc:ENOMEM:14:46
    ENV ARMCI_OFI_DOMAIN=lo NTH_PROGRAM=message)
  foreach(provider tcp shm) # C posts nothing itself
    set(mode hosts)
    if(provider STREQUAL shm)
      set(mode nodes)
    endif()
    armci_ofi(${provider}/2x1/without_fast_path SECONDS 300 WAITS
      COMMAND ${here}/hosts/run.sh ${mode} none 2x1 few
      ENV ARMCI_FASTPATH=n "HOSTS_PROGRAMS=contiguous requests order message model")
  endforeach()
  armci_ofi(shm/2x2/few SECONDS 300 WAITS COMMAND ${here}/hosts/run.sh nodes none 2x2 few
    ENV "HOSTS_PROGRAMS=message model")

  armci_ofi(tcp/fault SECONDS 300 WAITS COMMAND ${here}/hosts/fault.sh none
    ENV "HOSTS_PARTS=kill=puts,requests node=puts")
  armci_ofi(udp/fault SECONDS 300 COMMAND ${here}/hosts/fault.sh none ENV "HOSTS_PARTS=kill=puts")
  armci_ofi(shm/fault SECONDS 300 WAITS COMMAND ${here}/fault/run.sh
    ENV FAULT_LAUNCHERS=none FAULT_NODES=2 FAULT_PARTS=kill "FAULT_WAYS=puts requests")
  armci_ofi(shm/leftovers SECONDS 100 COMMAND ${here}/ofi/leftovers.sh)

  # Over verbs what has most to do with the network: an emulated processor takes seconds to begin a
  # program. By hand: an emulated processor is so slow that a limit of time in the suites is met now
  # and then.
  option(ARMCI_TEST_OFI_VERBS
    "Test libfabric's verbs provider in the virtual machine (some minutes)" OFF)
  if(ARMCI_TEST_OFI_VERBS)
    armci_vm(ofi SECONDS 900 COMMAND ${ofi}/verbs.sh ${out}/ofi/fabric ${limits}
      "-test.run=TestFabric|TestConformance/2x2"
      ENV "HOSTS_PROGRAMS=contiguous message model fortran/one_sided" "HOSTS_PARTS=kill=puts")
  endif()
endif()
if("none" IN_LIST ARMCI_CAN_FC AND TARGET armci_fortran)
  foreach(provider tcp udp)
    armci_ofi(${provider}/2x1/fortran SECONDS 300 WAITS
      COMMAND ${here}/hosts/run.sh hosts none 2x1 fortran)
  endforeach()
  armci_ofi(shm/2x1/fortran SECONDS 300 WAITS COMMAND ${here}/hosts/run.sh nodes none 2x1 fortran)
endif()
if("openmpi" IN_LIST ARMCI_FLAVOURS)
  foreach(provider tcp udp shm)
    set(mode hosts)
    if(provider STREQUAL shm)
      set(mode nodes)
    endif()
    armci_ofi(${provider}/openmpi/2x1/ga SECONDS 300 WAITS
      COMMAND ${here}/hosts/run.sh ${mode} openmpi 2x1 few
      ENV "HOSTS_PROGRAMS=ga/patches ga/strided")
    set_tests_properties(ofi/${provider}/openmpi/2x1/ga PROPERTIES DEPENDS ga/openmpi)
  endforeach()
endif()
