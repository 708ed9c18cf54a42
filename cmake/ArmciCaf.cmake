# The runtime of coarray Fortran, for gfortran -fcoarray=lib: libcaf_armci.so.0 and libcaf_armci.a,
# in C over libarmci.so.0, which it finds beside itself; and the command caf-armci. No Fortran
# compiler is needed to build it. It must see the public headers only.
# SPDX-License-Identifier: BSD-3-Clause

if(NOT TARGET armci_classic)
  message(STATUS "no libarmci: libcaf_armci is not built")
  return()
endif()
armci_client(caf)
