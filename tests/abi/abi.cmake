# The binary promise: exported names, soname, no MPI linked, dlopen, interposition, and the layouts
# of the other ABI.
# SPDX-License-Identifier: BSD-3-Clause

set(abi ${CMAKE_CURRENT_SOURCE_DIR}/abi)
set(out ${PROJECT_BINARY_DIR}/tests/abi)

foreach(flavour IN LISTS ARMCI_FLAVOURS)
  set(soname libarmci.so.1)
  if(flavour STREQUAL "classic")
    set(soname libarmci.so.0)
  endif()
  armci_test_packages(abi/elf/${flavour} ./tests/abi BUILT=ON)
  set_tests_properties(abi/elf/${flavour} PROPERTIES LABELS abi ENVIRONMENT
    "ARMCI_ABI_LIBRARY=${ARMCI_LIBDIR_${flavour}}/${soname};ARMCI_ABI_SONAME=${soname}")
endforeach()

if(TARGET armci_mpirma)
  armci_test_packages(abi/elf/mpirma ./tests/abi BUILT=ON RUN=Mpirma)
  set_tests_properties(abi/elf/mpirma PROPERTIES LABELS abi ENVIRONMENT
    "ARMCI_ABI_MPIRMA=${ARMCI_MPIRMA}")
endif()

if(TARGET armci_caf)
  armci_test_packages(abi/elf/caf ./tests/abi BUILT=ON RUN=Caf)
  set_tests_properties(abi/elf/caf PROPERTIES LABELS abi ENVIRONMENT
    "ARMCI_ABI_CAF=${ARMCI_LIBDIR_classic}/libcaf_armci.so.0")
endif()

if(TARGET armci_shmem)
  armci_test_packages(abi/elf/shmem ./tests/abi BUILT=ON RUN=Shmem)
  set_tests_properties(abi/elf/shmem PROPERTIES LABELS abi ENVIRONMENT
    "ARMCI_ABI_SHMEM=${ARMCI_LIBDIR_classic}/libshmem_armci.so.0")
endif()

armci_program(OUTPUT ${out}/dlopen FLAVOUR none TARGET armci_tests SOURCES ${abi}/programs/dlopen.c
  LIBS -ldl)
armci_run(abi/dlopen LAUNCHER single RANKS 1 LABELS abi
  COMMAND ${out}/dlopen ${ARMCI_LIBDIR_classic}/libarmci.so.0)

foreach(flavour openmpi mpich)
  if(NOT flavour IN_LIST ARMCI_CAN_CC)
    armci_skip(abi/comm-world/${flavour} "no compiler wrapper or launcher of ${flavour}")
  else()
    armci_program(OUTPUT ${out}/comm_world_${flavour} FLAVOUR ${flavour} TARGET armci_tests
      SOURCES ${abi}/programs/comm_world.c)
    armci_run(abi/comm-world/${flavour} LAUNCHER ${flavour} RANKS 2 LABELS abi
      COMMAND ${out}/comm_world_${flavour})
  endif()
endforeach()

foreach(flavour openmpi mpich)
  if(NOT flavour IN_LIST ARMCI_FLAVOURS)
    armci_skip(abi/mpi-abi/${flavour} "built with ARMCI_MPI_ABI=OFF")
  elseif(NOT flavour IN_LIST ARMCI_CAN_CC)
    armci_skip(abi/mpi-abi/${flavour} "no compiler wrapper or launcher of ${flavour}")
  else()
    armci_program(OUTPUT ${out}/mpi_abi_${flavour} FLAVOUR ${flavour} ABI ${flavour}
      TARGET armci_tests
      INCLUDE ${PROJECT_SOURCE_DIR}/include/armci-mpi SOURCES ${abi}/programs/mpi_abi.c)
    armci_run(abi/mpi-abi/${flavour} LAUNCHER ${flavour} RANKS 2 LABELS abi
      COMMAND ${out}/mpi_abi_${flavour})
  endif()
  # Fortran: the layouts of that ABI, and programs that are right for both.
  if(NOT flavour IN_LIST ARMCI_FLAVOURS OR NOT flavour IN_LIST ARMCI_CAN_FC
    OR NOT TARGET armci_fortran)
    armci_skip(abi/mpi-abi/fortran/${flavour}
      "no library, Fortran compiler wrapper or launcher of ${flavour}")
    continue()
  endif()
  foreach(source ${abi}/programs/layouts.f90 ${CMAKE_CURRENT_SOURCE_DIR}/fortran/scopes.f90
      ${CMAKE_CURRENT_SOURCE_DIR}/fortran/vectors.f90)
    get_filename_component(name ${source} NAME_WE)
    armci_program(OUTPUT ${out}/fortran_${flavour}/${name} FLAVOUR ${flavour} ABI ${flavour}
      TARGET armci_tests SOURCES ${source}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fortran/checks.inc)
    armci_run(abi/mpi-abi/fortran/${flavour}/${name} LAUNCHER ${flavour} RANKS 2 LABELS abi
      COMMAND ${out}/fortran_${flavour}/${name})
  endforeach()
endforeach()

# What programs see of the library, types too, against the stored description; armci_abi_update
# writes that anew.
set(described sh ${abi}/abidiff.sh)
set(described_what ${ARMCI_LIBDIR_classic}/libarmci.so.0 ${PROJECT_SOURCE_DIR}/include
  ${abi}/libarmci0.abi.xml)
add_test(NAME abi/described COMMAND ${described} check ${described_what})
set_tests_properties(abi/described PROPERTIES LABELS abi TIMEOUT 100 SKIP_RETURN_CODE 77)
add_custom_target(armci_abi_update COMMAND ${described} update ${described_what}
  DEPENDS armci_classic VERBATIM)
