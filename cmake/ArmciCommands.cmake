# The commands: armcirun, armci_info, armci_perf (with its C worker, one per MPI flavour that is here).
# SPDX-License-Identifier: BSD-3-Clause

set(ARMCI_COMMANDS "")
foreach(name armcirun armci_info armci_perf)
  file(GLOB sources ${PROJECT_SOURCE_DIR}/cmd/${name}/*.go)
  if(sources)
    armci_go_command(${name})
    list(APPEND ARMCI_COMMANDS ${name})
  endif()
endforeach()
