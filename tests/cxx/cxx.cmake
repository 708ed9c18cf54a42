# C++ over armci.hpp, label cxx: the programs of this directory on one node and on two pretended
# ones; one of them under each MPI, with the header's other layouts under one; how a rank leaves by
# an exception; what must not compile. One test runs many programs in a row (tests/hosts/run.sh);
# which these are is said in programs.txt.
# SPDX-License-Identifier: BSD-3-Clause

set(cxx ${here}/cxx)
if(NOT "none" IN_LIST ARMCI_CAN_CXX)
  armci_skip(cxx/armcirun "no C++ compiler")
  return()
endif()
file(GLOB cxx_headers CONFIGURE_DEPENDS ${cxx}/*.hpp)

# cxx_program(<output> <flavour> <source> [ABI <abi> INCLUDE <directory>]): built by armci_tests.
# The C++ bindings in mpi.h, which are left out, do not know our warnings.
function(cxx_program output flavour source)
  armci_program(OUTPUT ${output} FLAVOUR ${flavour} TARGET armci_tests SOURCES ${cxx}/${source}
    DEPENDS ${cxx_headers}
    FLAGS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX ${ARGN})
endfunction()

programs_listed(cxx "mpi|check")
foreach(name tier source IN ZIP_LISTS listed_names listed_tiers listed_sources)
  cxx_program(${out}/cxx/none/${name} none ${source})
  if(tier STREQUAL mpi)
    if("mpich" IN_LIST ARMCI_CAN_CXX)
      cxx_program(${out}/cxx/mpich/${name} mpich ${source})
    endif()
    if("openmpi" IN_LIST ARMCI_CAN_CXX AND "openmpi" IN_LIST ARMCI_FLAVOURS)
      cxx_program(${out}/cxx/openmpi/${name} openmpi ${source} ABI openmpi
        INCLUDE ${PROJECT_SOURCE_DIR}/include/armci-mpi)
    endif()
  endif()
endforeach()

foreach(shape 1x1 1x2 1x4 2x1 2x2)
  armci_suite(cxx/armcirun/${shape} SCRIPT ${here}/hosts/run.sh LABEL cxx TIMEOUT 200
    ARGS nodes none ${shape} cxx)
endforeach()
foreach(flavour openmpi mpich)
  if(NOT flavour IN_LIST ARMCI_CAN_CXX)
    armci_skip(cxx/${flavour} "no C++ compiler wrapper or launcher of ${flavour}")
  elseif(TARGET build_tests_cxx_${flavour}_sync)
    armci_suite(cxx/${flavour} SCRIPT ${here}/hosts/run.sh LABEL cxx TIMEOUT 200
      ARGS nodes ${flavour} 1x2 cxx_mpi)
  endif()
endforeach()

cxx_program(${out}/cxx/none/unwind none unwind/unwind.cc)
armci_suite(cxx/unwind SCRIPT ${cxx}/unwind/run.sh LABEL cxx TIMEOUT 60 ARGS ${out}/cxx/none/unwind)
armci_suite(cxx/refused SCRIPT ${cxx}/refused/run.sh LABEL cxx TIMEOUT 60
  ENV "CXX=${CMAKE_CXX_COMPILER}")
