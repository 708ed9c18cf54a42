# Run as a script: one `go build`, or `go test -c`, with what Go's own cache cannot see made visible
# to it.
# Go does not notice a changed version script: it is copied under a name with its hash, so that a
# change links anew. It must not leave a half-written output behind: go writes into WORK, the result
# is moved.
# Input: GO MODE(c-shared|exe|test) SOURCE HEADERS PACKAGE OUTPUT WORK VERSION; CFLAGS LDFLAGS; for
# c-shared also SONAME MAP, and TAG, the build tag of its ABI.
# SPDX-License-Identifier: BSD-3-Clause
cmake_minimum_required(VERSION 3.22)

include(${CMAKE_CURRENT_LIST_DIR}/go_headers.cmake)
file(MAKE_DIRECTORY ${WORK})
get_filename_component(name ${OUTPUT} NAME)
set(ldflags "-X libarmci/internal/config.Version=${VERSION}")
# Go interrupts goroutines by SIGURG, which a program may have a handler for. A test is to run as
# the library does.
if(NOT MODE STREQUAL "exe")
  string(APPEND ldflags " -X runtime.godebugDefault=asyncpreemptoff=1")
endif()
if(MODE STREQUAL "c-shared")
  file(SHA256 ${MAP} maphash)
  string(SUBSTRING ${maphash} 0 12 maphash)
  configure_file(${MAP} ${WORK}/${maphash}.map COPYONLY)
  # Go links with -Bsymbolic: right for functions, wrong for data, which the linker copies into
  # programs that use it.
  string(APPEND ldflags
    " -extldflags \"-Wl,-soname,${SONAME} '-Wl,--version-script=${WORK}/${maphash}.map'"
    " -Wl,--dynamic-list-data\"")
endif()

set(tags netgo,osusergo)
if(TAG)
  string(APPEND tags ",${TAG}")
endif()

# Programs are position-independent and bound at start, as distributions want them: Go links some of
# them itself, and does not look at LDFLAGS then. What is compiled for these is what the libraries
# are made of; tests are position-independent for this reason alone.
set(command build -buildmode=${MODE})
if(MODE STREQUAL "exe")
  set(command build -buildmode=pie)
  string(APPEND ldflags " -bindnow")
endif()
if(MODE STREQUAL "test")
  set(command test -c -buildmode=pie)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/go_ppc64le.cmake)
set(progress sh ${CMAKE_CURRENT_LIST_DIR}/go_progress.sh ${name})
if(MODE STREQUAL "test")
  set(progress "")
endif()
execute_process(
  COMMAND ${progress} ${GO} ${command} ${go_extra} -trimpath -buildvcs=false -tags ${tags}
    "-ldflags=${ldflags}" -o ${WORK}/${name} ${PACKAGE}
  WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "go build ${PACKAGE} failed")
endif()
if(MODE STREQUAL "c-shared") # by a program for this machine, whatever processor the library is for
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env --unset=GOARCH CGO_ENABLED=0
      ${GO} run -trimpath -buildvcs=false ./internal/guest/sigtable ${WORK}/${name}
    WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "the table of signals in ${name} could not be changed")
  endif()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/go_depfile.cmake)
get_filename_component(directory ${OUTPUT} DIRECTORY)
file(MAKE_DIRECTORY ${directory})
file(RENAME ${WORK}/${name} ${OUTPUT})
