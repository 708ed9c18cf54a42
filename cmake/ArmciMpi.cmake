# Finds the two MPI flavours side by side, as Debian installs them (mpicc.openmpi, mpicc.mpich); on
# other systems the cache variables name them. Only tests need MPI: the library must never be linked
# against one.
# Sets for FLAVOUR in openmpi, mpich: ARMCI_CC_<flavour> ARMCI_CXX_<flavour> ARMCI_FC_<flavour>
# ARMCI_RUN_<flavour>; and for "none" the plain compilers. C++ is for tests and examples only.
# SPDX-License-Identifier: BSD-3-Clause
include(CheckLanguage)

check_language(Fortran)
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
endif()

if(ARMCI_BUILD_TESTS)
  check_language(CXX)
  if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
  endif()
endif()

find_program(ARMCI_CC_openmpi NAMES mpicc.openmpi DOC "C compiler wrapper of Open MPI")
find_program(ARMCI_CXX_openmpi NAMES mpicxx.openmpi mpic++.openmpi
  DOC "C++ compiler wrapper of Open MPI")
find_program(ARMCI_FC_openmpi NAMES mpifort.openmpi mpif90.openmpi
  DOC "Fortran compiler wrapper of Open MPI")
find_program(ARMCI_RUN_openmpi NAMES mpirun.openmpi DOC "launcher of Open MPI")
find_program(ARMCI_CC_mpich NAMES mpicc.mpich DOC "C compiler wrapper of MPICH")
find_program(ARMCI_CXX_mpich NAMES mpicxx.mpich mpic++.mpich DOC "C++ compiler wrapper of MPICH")
find_program(ARMCI_FC_mpich NAMES mpifort.mpich mpif90.mpich
  DOC "Fortran compiler wrapper of MPICH")
find_program(ARMCI_RUN_mpich NAMES mpiexec.hydra mpiexec.mpich DOC "launcher of MPICH")
set(ARMCI_CC_none ${CMAKE_C_COMPILER})
set(ARMCI_CXX_none ${CMAKE_CXX_COMPILER})
set(ARMCI_FC_none ${CMAKE_Fortran_COMPILER})
set(ARMCI_RUN_none ${PROJECT_BINARY_DIR}/bin/armcirun)

# The command line that starts a program on n ranks, up to the program itself.
function(armci_launcher result flavour ranks)
  if(flavour STREQUAL "openmpi")
    set(${result} ${ARMCI_RUN_openmpi} --allow-run-as-root --oversubscribe -n ${ranks} PARENT_SCOPE)
  else()
    set(${result} ${ARMCI_RUN_${flavour}} -n ${ranks} PARENT_SCOPE)
  endif()
endfunction()
