# The flags of compilers and linkers: CFLAGS, CPPFLAGS, FFLAGS and LDFLAGS at configuration, and the
# build type, for everything that is compiled here: C inside Go packages, workers, Fortran, tests
# and examples. Warnings end the build only with ARMCI_WERROR, which continuous integration sets:
# another compiler may know other warnings.
# Sets ARMCI_CFLAGS_USER ARMCI_LDFLAGS_USER (text), ARMCI_CFLAGS ARMCI_CXXFLAGS ARMCI_FFLAGS
# ARMCI_LDFLAGS (lists), ARMCI_WERROR_FLAG.
# SPDX-License-Identifier: BSD-3-Clause

option(ARMCI_WERROR "treat warnings of the C and Fortran compilers as errors" OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo
    CACHE STRING "RelWithDebInfo (-O3 -g), Release, Debug, MinSizeRel or None" FORCE)
endif()
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)

# What CMake means by RelWithDebInfo is -O2 -g -DNDEBUG: the byte kernels want -O3, and tests their
# assertions.
if(type STREQUAL "RELWITHDEBINFO" AND CMAKE_C_FLAGS_RELWITHDEBINFO STREQUAL "-O2 -g -DNDEBUG")
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O3 -g")
endif()
set(ARMCI_WERROR_FLAG "")
if(ARMCI_WERROR)
  set(ARMCI_WERROR_FLAG -Werror)
endif()

# As lists. What comes last counts: what was asked for by name comes after the build type.
separate_arguments(c UNIX_COMMAND "${CMAKE_C_FLAGS_${type}} $ENV{CPPFLAGS} ${CMAKE_C_FLAGS}")
separate_arguments(cxx UNIX_COMMAND "${CMAKE_CXX_FLAGS_${type}} $ENV{CPPFLAGS} ${CMAKE_CXX_FLAGS}")
separate_arguments(fortran UNIX_COMMAND "${CMAKE_Fortran_FLAGS_${type}} ${CMAKE_Fortran_FLAGS}")
separate_arguments(ARMCI_LDFLAGS
  UNIX_COMMAND "${CMAKE_SHARED_LINKER_FLAGS_${type}} ${CMAKE_SHARED_LINKER_FLAGS}")
set(ARMCI_CFLAGS -std=gnu11 ${c} -Wall -Wextra ${ARMCI_WERROR_FLAG})
set(ARMCI_CXXFLAGS -std=c++17 ${cxx} -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  ${ARMCI_WERROR_FLAG})
set(ARMCI_FFLAGS ${fortran} -Wall -Wextra ${ARMCI_WERROR_FLAG})

# As text for Go, which knows quotes around a whole flag only.
set(ARMCI_CFLAGS_USER ${c})
set(ARMCI_LDFLAGS_USER ${ARMCI_LDFLAGS})
foreach(flags ARMCI_CFLAGS_USER ARMCI_LDFLAGS_USER)
  list(TRANSFORM ${flags} REPLACE "^.*[ \"].*$" "'\\0'")
  string(REPLACE ";" " " ${flags} "${${flags}}")
endforeach()
