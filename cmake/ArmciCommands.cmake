# The commands: armcirun, armci_info, armci_perf (its C workers are in ArmciPerf).
# SPDX-License-Identifier: BSD-3-Clause

set(ARMCI_COMMANDS "")
foreach(name armcirun armci_info armci_perf)
  file(GLOB sources ${PROJECT_SOURCE_DIR}/cmd/${name}/*.go)
  if(sources)
    armci_go_command(${name})
    list(APPEND ARMCI_COMMANDS ${name})
  endif()
endforeach()
