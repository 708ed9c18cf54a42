# Included by the go_*.cmake scripts: sets the environment of every go command so that Go's cache
# sees our headers. Go does not notice a changed header of another directory; the hash of all
# headers in the C flags makes it notice. Input: SOURCE and, optional, CFLAGS (without: -O2 -g) and
# LDFLAGS; for another processor GOARCH and CC.
# SPDX-License-Identifier: BSD-3-Clause

file(GLOB_RECURSE headers ${SOURCE}/include/*.h ${SOURCE}/internal/*.h ${SOURCE}/capi/*.h
  ${SOURCE}/mpirma/*.h)
list(SORT headers)
set(all "")
foreach(header IN LISTS headers)
  file(SHA256 ${header} one)
  string(APPEND all ${one})
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 12 hash)
set(ENV{CGO_ENABLED} 1)
if(GOARCH)
  set(ENV{GOARCH} ${GOARCH})
  set(ENV{CC} ${CC})
endif()
if(NOT CFLAGS)
  set(CFLAGS "-O2 -g")
endif()
set(ENV{CGO_CFLAGS} "-DARMCI_HEADERS=0x${hash} ${CFLAGS}")
set(ENV{CGO_LDFLAGS} "${LDFLAGS}")
