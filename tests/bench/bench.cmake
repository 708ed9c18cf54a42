# The smoke tests of armci_perf, armci_accept and bench/, on one node, between nodes, and over RDMA:
# that they work, not how fast anything is.
# SPDX-License-Identifier: BSD-3-Clause

if(TARGET armci_perf AND TARGET armci_bench)
  add_dependencies(armci_tests armci_bench)
  if(TARGET armci_mpirma)
    add_dependencies(armci_tests armci_mpirma) # perf/windows runs over it if it is there
  endif()
  armci_suite(perf/tool SCRIPT ${CMAKE_CURRENT_LIST_DIR}/perf.sh LABEL perf TIMEOUT 300)
  armci_suite(perf/accept SCRIPT ${CMAKE_CURRENT_LIST_DIR}/accept.sh LABEL perf TIMEOUT 500)
  armci_suite(perf/bench SCRIPT ${CMAKE_CURRENT_LIST_DIR}/bench.sh LABEL perf TIMEOUT 400)
  armci_suite(perf/windows SCRIPT ${CMAKE_CURRENT_LIST_DIR}/windows.sh LABEL perf TIMEOUT 200)
  armci_suite(perf/waits SCRIPT ${CMAKE_CURRENT_LIST_DIR}/waits.sh LABEL perf TIMEOUT 200)
  armci_suite(perf/caf SCRIPT ${CMAKE_CURRENT_LIST_DIR}/caf.sh LABEL perf TIMEOUT 200)
  armci_suite(perf/apps SCRIPT ${CMAKE_CURRENT_LIST_DIR}/apps.sh LABEL perf TIMEOUT 200)
  armci_suite(perf/papers SCRIPT ${CMAKE_CURRENT_LIST_DIR}/papers.sh LABEL perf TIMEOUT 600)
  if(TARGET bench_worker-verbs)
    armci_suite(vm/rdma/perf SCRIPT ${CMAKE_CURRENT_LIST_DIR}/rdma.sh LABEL vm TIMEOUT 400)
  endif()
endif()
