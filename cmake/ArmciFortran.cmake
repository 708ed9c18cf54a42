# The Fortran module: interfaces only, so there is a .mod file to install and no library of its own.
# SPDX-License-Identifier: BSD-3-Clause

set(ARMCI_MODULE_SOURCE ${PROJECT_SOURCE_DIR}/include/armci.f90)
set(ARMCI_MODULE_DIR ${PROJECT_BINARY_DIR}/fortran)
if(NOT EXISTS ${ARMCI_MODULE_SOURCE} OR NOT CMAKE_Fortran_COMPILER)
  message(STATUS "no Fortran compiler or no include/armci.f90: the Fortran module is not built")
  return()
endif()

add_custom_command(OUTPUT ${ARMCI_MODULE_DIR}/armci.mod
  COMMAND ${CMAKE_COMMAND} -E make_directory ${ARMCI_MODULE_DIR}
  COMMAND ${CMAKE_Fortran_COMPILER} -fsyntax-only ${ARMCI_FFLAGS} -J${ARMCI_MODULE_DIR}
    ${ARMCI_MODULE_SOURCE}
  COMMAND ${CMAKE_COMMAND} -E touch ${ARMCI_MODULE_DIR}/armci.mod
  DEPENDS ${ARMCI_MODULE_SOURCE}
  COMMENT "Fortran module armci" VERBATIM)
add_custom_target(armci_fortran ALL DEPENDS ${ARMCI_MODULE_DIR}/armci.mod)
