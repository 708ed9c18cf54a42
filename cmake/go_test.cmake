# Run as a script: `go test` of one package, under the race detector unless RACE is OFF. It fails when the test fails.
# Input: GO SOURCE PACKAGE, and optional RACE.
# SPDX-License-Identifier: BSD-3-Clause

include(${CMAKE_CURRENT_LIST_DIR}/go_headers.cmake)
set(race -race)
if(DEFINED RACE AND NOT RACE)
  set(race "")
endif()
execute_process(COMMAND ${GO} test ${race} -count=1 -v -timeout 5m ${PACKAGE}
  WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "go test ${PACKAGE} failed")
endif()
