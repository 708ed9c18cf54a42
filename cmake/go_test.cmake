# Run as a script: `go test` of packages, under the race detector unless RACE is OFF; all output,
# or with QUIET a line for each. It fails when a test fails. With COMPILE the packages are compiled,
# for a test to come, and nothing is run; with VET, vet judges them instead. With BUILT the flags
# are those of the libraries (go_build.cmake): what these are made of is not compiled again. With
# SHORT tests of many settings try some.
# Input: GO SOURCE HEADERS PACKAGE (a list), and optional RACE QUIET COMPILE VET BUILT SHORT, RUN
# (a pattern), ARGS (behind the packages), BESIDE (how many packages at once).
# SPDX-License-Identifier: BSD-3-Clause
cmake_minimum_required(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/go_headers.cmake)
set(flags -race)
if(DEFINED RACE AND NOT RACE)
  set(flags "")
endif()
if(BUILT)
  set(flags -trimpath -buildmode=pie -tags netgo,osusergo)
endif()
set(command test ${flags} -timeout 5m)
if(NOT QUIET)
  list(APPEND command -count=1 -v -vet=off) # the test unit/vet sees all packages at once
endif()
if(RUN)
  list(APPEND command -run ${RUN})
endif()
if(SHORT)
  list(APPEND command -short)
endif()
if(BESIDE)
  list(APPEND command -p ${BESIDE})
endif()
if(COMPILE)
  set(command build ${flags})
elseif(VET)
  set(command vet ${flags})
endif()
set(ENV{GODEBUG} asyncpreemptoff=1) # as in the shared libraries (go_build.cmake)
separate_arguments(arguments UNIX_COMMAND "${ARGS}")
execute_process(COMMAND ${GO} ${command} ${PACKAGE} ${arguments}
  WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "go ${command} ${PACKAGE} failed")
endif()
