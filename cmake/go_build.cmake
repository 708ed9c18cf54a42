# Run as a script: one `go build`, with what Go's own cache cannot see made visible to it.
# Go does not notice a changed header of another directory, nor a changed version script: the hash of the headers
# goes into the C flags and the script is copied under a name with its hash, so that a change rebuilds. It must not
# leave a half-written output behind: go writes into WORK, the result is moved.
# Input: GO MODE(c-shared|exe) SOURCE PACKAGE OUTPUT WORK VERSION; for c-shared also SONAME MAP CFLAGS.
# SPDX-License-Identifier: BSD-3-Clause

file(GLOB_RECURSE headers ${SOURCE}/include/*.h ${SOURCE}/internal/*.h ${SOURCE}/capi/*.h)
list(SORT headers)
set(all "")
foreach(header IN LISTS headers)
  file(SHA256 ${header} one)
  string(APPEND all ${one})
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 12 hash)

file(MAKE_DIRECTORY ${WORK})
get_filename_component(name ${OUTPUT} NAME)
set(ldflags "-X libarmci/internal/config.Version=${VERSION}")
if(MODE STREQUAL "c-shared")
  file(SHA256 ${MAP} maphash)
  string(SUBSTRING ${maphash} 0 12 maphash)
  configure_file(${MAP} ${WORK}/${maphash}.map COPYONLY)
  # Go links with -Bsymbolic: right for functions, wrong for data, which the linker copies into programs that use it.
  string(APPEND ldflags
    " -extldflags \"-Wl,-soname,${SONAME} -Wl,--version-script=${WORK}/${maphash}.map -Wl,--dynamic-list-data\"")
endif()

set(ENV{CGO_ENABLED} 1)
set(ENV{CGO_CFLAGS} "-O2 -g -DARMCI_HEADERS=0x${hash} ${CFLAGS}")
execute_process(
  COMMAND ${GO} build -buildmode=${MODE} -trimpath -buildvcs=false -tags netgo,osusergo
    "-ldflags=${ldflags}" -o ${WORK}/${name} ${PACKAGE}
  WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "go build ${PACKAGE} failed")
endif()
get_filename_component(directory ${OUTPUT} DIRECTORY)
file(MAKE_DIRECTORY ${directory})
file(RENAME ${WORK}/${name} ${OUTPUT})
