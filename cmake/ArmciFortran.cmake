# The Fortran modules, one per ABI: interfaces only, so there are .mod files to install and no
# library of their own.
# SPDX-License-Identifier: BSD-3-Clause

set(ARMCI_MODULE_DIR ${PROJECT_BINARY_DIR}/fortran)
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/include/armci.f90 OR NOT CMAKE_Fortran_COMPILER)
  message(STATUS "no Fortran compiler or no include/armci.f90: the Fortran module is not built")
  return()
endif()

file(GLOB parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/armci-fortran/*.inc)
set(ARMCI_MODULES "")
foreach(flavour IN LISTS ARMCI_FLAVOURS)
  # Where the module is, below include/ and below ARMCI_MODULE_DIR.
  set(sub /armci-mpi/${flavour})
  if(flavour STREQUAL "classic")
    set(sub "")
  endif()
  set(directory ${ARMCI_MODULE_DIR}${sub})
  set(source ${PROJECT_SOURCE_DIR}/include${sub}/armci.f90)
  add_custom_command(OUTPUT ${directory}/armci.mod
    COMMAND ${CMAKE_COMMAND} -E make_directory ${directory}
    COMMAND ${CMAKE_Fortran_COMPILER} -fsyntax-only ${ARMCI_FFLAGS} -J${directory} ${source}
    COMMAND ${CMAKE_COMMAND} -E touch ${directory}/armci.mod
    DEPENDS ${source} ${parts}
    COMMENT "Fortran module armci, ${flavour}" VERBATIM)
  list(APPEND ARMCI_MODULES ${directory}/armci.mod)
  set(ARMCI_MODULE_DIR_${flavour} ${directory})
endforeach()
add_custom_target(armci_fortran ALL DEPENDS ${ARMCI_MODULES})
