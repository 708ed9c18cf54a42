# Go tests: one ctest of nearly all packages under the race detector, then vet, formatting, and the
# C kernels under sanitizers. Tests that want the built library (tests/abi) are not here.
# SPDX-License-Identifier: BSD-3-Clause

file(GLOB_RECURSE tests CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/internal/*_test.go ${PROJECT_SOURCE_DIR}/capi/*_test.go
  ${PROJECT_SOURCE_DIR}/cmd/*_test.go ${PROJECT_SOURCE_DIR}/bench/*_test.go
  ${PROJECT_SOURCE_DIR}/docs/reference/*_test.go ${PROJECT_SOURCE_DIR}/tests/policy/*_test.go)
set(packages "")
foreach(test IN LISTS tests)
  get_filename_component(package ${test} DIRECTORY)
  list(APPEND packages ${package})
endforeach()
list(REMOVE_DUPLICATES packages)

# Compiled beforehand as far as that is kept: Go's own packages and ours, without the tests and
# without the packages main, which go build would also link.
add_custom_target(armci_race COMMENT "go build for the race detector" VERBATIM
  COMMAND ${CMAKE_COMMAND} -DGO=${ARMCI_GO} -DSOURCE=${PROJECT_SOURCE_DIR} -DPACKAGE=./internal/...
    ${ARMCI_GO_FLAGS} -DCOMPILE=ON -P ${PROJECT_SOURCE_DIR}/cmake/go_test.cmake)
add_dependencies(armci_tests armci_race)

# armci_test_packages(<name> <packages, as a list> [<variable>=<value>...]): go_test.cmake, as a
# test.
function(armci_test_packages name packages)
  list(TRANSFORM ARGN PREPEND -D)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -DGO=${ARMCI_GO} -DSOURCE=${PROJECT_SOURCE_DIR}
    "-DPACKAGE=${packages}" ${ARGN} ${ARMCI_GO_FLAGS}
    -P ${PROJECT_SOURCE_DIR}/cmake/go_test.cmake)
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 400)
endfunction()

# Most packages' tests wait more than they compute, so two run beside each other, the longest first;
# but for those that keep two processors busy or measure how long it takes to wait. The race
# detector sees nothing where Go has one thread, and not into C, whose threads unit/sanitize
# watches.
set(alone internal/core internal/wait)
set(longest internal/internode internal/tcp internal/shm)
set(plain internal internal/kernel internal/figure internal/guest/sigtable bench bench/papers
  docs/reference tests/policy)
list(REMOVE_ITEM packages ${alone} ${longest} ${plain})
list(PREPEND packages ${longest})
list(TRANSFORM packages PREPEND ./)
armci_test_packages(unit/race "${packages}" BESIDE=2 SHORT=ON)
set_tests_properties(unit/race PROPERTIES TIMEOUT 900 PROCESSORS 2)
list(TRANSFORM plain PREPEND ./)
armci_test_packages(unit/plain "${plain}" BUILT=ON BESIDE=2)
set_tests_properties(unit/plain PROPERTIES PROCESSORS 2)
foreach(package IN LISTS alone)
  armci_test_packages(unit/race/${package} ./${package})
  set_tests_properties(unit/race/${package} PROPERTIES PROCESSORS 2)
endforeach()

# All settings of the suites, some of which unit/race leaves out.
armci_test_packages(unit/settings "./internal/internode;./internal/rdma;./internal/tcp" BUILT=ON
  BESIDE=2 RUN=Conformance|TestTransport$)
set_tests_properties(unit/settings PROPERTIES PROCESSORS 2)

# Sockets without room, or with room for a part only, at random.
armci_test_packages(unit/faults ./internal/tcp RACE=OFF RUN=Conformance|TestTransport$|Cut|Kept
  "ARGS=-tags faults -short")

# Without the race detector, which has sync.Pool forget things.
armci_test_packages(unit/garbage ./internal/tcp BUILT=ON RUN=WithoutGarbage)
set_tests_properties(unit/garbage PROPERTIES PROCESSORS 2)

# The simulations of what is between nodes, and of TCP connections that are made again
# (docs/debugging.md): new seeds for longer than in unit/race. The defects that they have to find
# are tried by hand, since each takes a minute or two.
armci_test_packages(unit/simulate "./internal/internode;./internal/tcp" BUILT=ON BESIDE=2
  RUN=Simulate$ "ARGS=-for 1m")
set_tests_properties(unit/simulate PROPERTIES PROCESSORS 2)

armci_test_packages(unit/vet ./... BUILT=ON VET=ON)
# Beside others that compile (suites.cmake).
set_tests_properties(unit/vet PROPERTIES COST 1000)

get_filename_component(gobin ${ARMCI_GO} DIRECTORY)
find_program(ARMCI_GOFMT gofmt HINTS ${gobin} /usr/local/go/bin)
set(complain "{ echo \"not formatted: $bad\"; exit 1; }")
add_test(NAME unit/gofmt WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMAND sh -c
  "bad=$(\"$0\" -l bench capi cmd internal tests) && test -z \"$bad\" || ${complain}"
  ${ARMCI_GOFMT})
set_tests_properties(unit/gofmt PROPERTIES LABELS unit TIMEOUT 60)

add_test(NAME unit/litmus COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/litmus/threads.sh
  ${CMAKE_C_COMPILER} ${PROJECT_SOURCE_DIR}/internal ${PROJECT_BINARY_DIR}/tests/litmus)
set_tests_properties(unit/litmus PROPERTIES LABELS unit TIMEOUT 120 SKIP_RETURN_CODE 77)
if(CMAKE_CXX_COMPILER)
  foreach(what cases weaken)
    add_test(NAME unit/litmus/${what} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/litmus/run.sh
      ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER}
      ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/tests/litmus-${what} ${what})
    set_tests_properties(unit/litmus/${what} PROPERTIES LABELS unit TIMEOUT 600 SKIP_RETURN_CODE 77)
  endforeach()
endif()

set(kernel ${PROJECT_SOURCE_DIR}/internal/kernel)
if(EXISTS ${kernel}/testdata/sanitize.c)
  add_test(NAME unit/sanitize COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/sanitize.sh ${CMAKE_C_COMPILER}
    ${kernel} ${PROJECT_BINARY_DIR}/tests/sanitize)
  set_tests_properties(unit/sanitize PROPERTIES LABELS unit TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
