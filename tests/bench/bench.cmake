# The smoke tests of armci_perf, on one node, between nodes, and over RDMA: that it works, not how fast anything is.
# SPDX-License-Identifier: BSD-3-Clause

if(TARGET armci_perf AND TARGET armci_perf_workers)
  add_test(NAME perf/smoke COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/smoke.sh ${PROJECT_BINARY_DIR}/bin/armci_perf
    ${PROJECT_BINARY_DIR}/tests/perf)
  add_test(NAME perf/nodes COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/nodes_smoke.sh ${PROJECT_BINARY_DIR}/bin/armci_perf
    ${PROJECT_BINARY_DIR}/tests/perf-nodes)
  set_tests_properties(perf/smoke perf/nodes PROPERTIES LABELS perf TIMEOUT 300 RUN_SERIAL ON)
  if(TARGET build_perf-verbs)
    armci_suite(vm/rdma/perf SCRIPT ${CMAKE_CURRENT_LIST_DIR}/rdma_smoke.sh LABEL vm TIMEOUT 400
      ARGS ${PROJECT_BINARY_DIR}/bin/armci_perf ${PROJECT_BINARY_DIR}/tests/perf-rdma)
  endif()
endif()
