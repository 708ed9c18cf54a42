# The library over providers of libfabric, label ofi: tcp and udp between hosts (network namespaces), shm between pretended
# nodes, verbs in the virtual machine (label vm). All programs of tests/c, Fortran, Global Arrays, kills.
# SPDX-License-Identifier: BSD-3-Clause

set(ofi ${here}/ofi)
find_program(ARMCI_FI_INFO fi_info DOC "libfabric's program that lists providers, for tests only")
if(NOT ARMCI_FI_INFO)
  armci_skip(ofi "no fi_info (packages libfabric1, libfabric-bin)")
  return()
endif()
armci_go_test(ofi_fabric OUTPUT ${out}/ofi/fabric PACKAGE internal/ofi)

# armci_ofi(<provider>/<name> SECONDS <s> COMMAND <script> <argument>... [ENV NAME=value...])
function(armci_ofi name)
  cmake_parse_arguments(A "" "SECONDS" "COMMAND;ENV" ${ARGN})
  string(REGEX REPLACE "/.*" "" provider ${name})
  armci_suite(ofi/${name} SCRIPT ${ofi}/over.sh LABEL ofi TIMEOUT ${A_SECONDS} ARGS ${provider} sh ${A_COMMAND} ENV "${A_ENV}")
endfunction()

foreach(provider tcp udp)
  armci_ofi(${provider}/fabric SECONDS 300 COMMAND ${ofi}/fabric.sh ${out}/ofi/fabric ENV ARMCI_OFI_DOMAIN=lo)
endforeach()
armci_ofi(shm/fabric SECONDS 300 COMMAND ${ofi}/fabric.sh ${out}/ofi/fabric)

set(mode_tcp hosts)
set(mode_udp hosts)
set(mode_shm nodes)
set(on_four "HOSTS_PROGRAMS=concurrent strided accumulate message model")
set(with_openmpi "HOSTS_PROGRAMS=ga/patches ga/strided ga/scatter")
foreach(provider tcp udp shm)
  set(mode ${mode_${provider}})
  if("none" IN_LIST ARMCI_CAN_CC)
    armci_ofi(${provider}/2x1/c SECONDS 600 COMMAND ${here}/hosts/run.sh ${mode} none 2x1 c ENV HOSTS_WITHOUT=idle)
    armci_ofi(${provider}/4x1/few SECONDS 300 COMMAND ${here}/hosts/run.sh ${mode} none 4x1 few ENV ${on_four})
  endif()
  if("none" IN_LIST ARMCI_CAN_FC AND TARGET armci_fortran)
    armci_ofi(${provider}/2x1/fortran SECONDS 300 COMMAND ${here}/hosts/run.sh ${mode} none 2x1 fortran)
  endif()
  if("openmpi" IN_LIST ARMCI_FLAVOURS)
    armci_ofi(${provider}/openmpi/2x1/ga SECONDS 300 COMMAND ${here}/hosts/run.sh ${mode} openmpi 2x1 few ENV ${with_openmpi})
    set_tests_properties(ofi/${provider}/openmpi/2x1/ga PROPERTIES DEPENDS ga/openmpi)
  endif()
endforeach()
if("none" IN_LIST ARMCI_CAN_CC)
  armci_ofi(tcp/fault SECONDS 300 COMMAND ${here}/hosts/fault.sh none ENV "HOSTS_PARTS=kill=puts,barrier node=puts link=puts stop")
  armci_ofi(udp/fault SECONDS 300 COMMAND ${here}/hosts/fault.sh none ENV "HOSTS_PARTS=kill=puts node=barrier link=puts")
  armci_ofi(shm/fault SECONDS 300 COMMAND ${here}/fault/run.sh
    ENV FAULT_LAUNCHERS=none FAULT_NODES=2 FAULT_PARTS=kill "FAULT_WAYS=puts lock barrier")

  # Over verbs only what has most to do with the network: an emulated processor takes five seconds to begin a program.
  armci_vm(ofi/verbs SECONDS 900 COMMAND ${ofi}/verbs.sh ${out}/ofi/fabric
    ENV "HOSTS_PROGRAMS=contiguous accumulate rmw mutex message model fortran/one_sided")
  armci_vm(ofi/fault SECONDS 600 COMMAND ${ofi}/over.sh verbs sh ${here}/hosts/fault.sh none
    ENV HOSTS_FIRST=1 "HOSTS_PARTS=kill=puts node=puts")
endif()
