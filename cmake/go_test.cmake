# Run as a script: `go test` of packages, under the race detector unless RACE is OFF; all output, or with QUIET a line for
# each. It fails when a test fails. With COMPILE the packages are compiled, for a test to come, and nothing is run.
# Input: GO SOURCE PACKAGE (a list), and optional RACE QUIET COMPILE.
# SPDX-License-Identifier: BSD-3-Clause

include(${CMAKE_CURRENT_LIST_DIR}/go_headers.cmake)
set(race -race)
if(DEFINED RACE AND NOT RACE)
  set(race "")
endif()
set(count -count=1 -v)
if(QUIET)
  set(count "")
endif()
set(command test ${race} ${count} -timeout 5m)
if(COMPILE)
  set(command build ${race})
endif()
set(ENV{GODEBUG} asyncpreemptoff=1) # as in the shared libraries (go_build.cmake)
execute_process(COMMAND ${GO} ${command} ${PACKAGE}
  WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "go ${command} ${PACKAGE} failed")
endif()
