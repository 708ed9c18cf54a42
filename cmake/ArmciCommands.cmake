# The commands: armcirun, armci_info, armci_perf, armci_accept (their C programs are in ArmciPerf
# and ArmciAccept).
# SPDX-License-Identifier: BSD-3-Clause

set(ARMCI_COMMANDS "")
foreach(name armcirun armci_info armci_perf armci_accept)
  file(GLOB sources ${PROJECT_SOURCE_DIR}/cmd/${name}/*.go)
  if(sources)
    armci_go_command(${name})
    list(APPEND ARMCI_COMMANDS ${name})
  endif()
endforeach()
