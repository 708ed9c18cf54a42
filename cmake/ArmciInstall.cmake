# What `make install` puts where: libraries, headers, Fortran module, commands, manual pages, licences, pkg-config
# files and the CMake package. Everything installed finds its neighbours relative to itself, so a prefix may be moved.
# SPDX-License-Identifier: BSD-3-Clause
include(CMakePackageConfigHelpers)

foreach(flavour IN LISTS ARMCI_FLAVOURS)
  if(flavour STREQUAL "classic")
    set(sub "")
    set(soname libarmci.so.0)
  else()
    set(sub /armci-mpi/${flavour})
    set(soname libarmci.so.1)
  endif()
  install(PROGRAMS ${ARMCI_LIBDIR_${flavour}}/${soname} DESTINATION ${CMAKE_INSTALL_LIBDIR}${sub})
  install(FILES ${ARMCI_LIBDIR_${flavour}}/libarmci.so DESTINATION ${CMAKE_INSTALL_LIBDIR}${sub})
endforeach()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.f90")
if(TARGET armci_fortran)
  install(FILES ${ARMCI_MODULE_DIR}/armci.mod DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
foreach(name IN LISTS ARMCI_COMMANDS)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()
file(RELATIVE_PATH ARMCI_BIN_UP /prefix/${CMAKE_INSTALL_BINDIR} /prefix)
string(REGEX REPLACE "/$" "" ARMCI_BIN_UP "${ARMCI_BIN_UP}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/armcicc.in ${PROJECT_BINARY_DIR}/bin/armcicc @ONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/armcicc DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET armci_mpirma)
  install(PROGRAMS ${ARMCI_MPIRMA} DESTINATION ${CMAKE_INSTALL_LIBDIR})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/armci-mpirma.in ${PROJECT_BINARY_DIR}/bin/armci-mpirma @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/armci-mpirma DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_BINARY_DIR}/licences/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/libarmci)
foreach(section 1 3 7)
  file(GLOB pages ${PROJECT_SOURCE_DIR}/docs/man/*.${section})
  if(NOT TARGET armci_mpirma)
    list(FILTER pages EXCLUDE REGEX "/armci-mpirma\\.1$")
  endif()
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()

# pkg-config: armci, armci-mpi-<flavour> for the other ABI, and armci-mpirma, which says where the library to preload is. The path back to the prefix is counted from the
# .pc file, so that the file says the truth wherever the tree is.
set(pcdir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH ARMCI_UP /prefix/${pcdir} /prefix)
string(REGEX REPLACE "/$" "" ARMCI_UP "${ARMCI_UP}")
set(ARMCI_PC_INCLUDE "")
set(ARMCI_PC_LIB "")
configure_file(${PROJECT_SOURCE_DIR}/cmake/armci.pc.in ${PROJECT_BINARY_DIR}/armci.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/armci.pc DESTINATION ${pcdir})
foreach(flavour openmpi mpich)
  if(flavour IN_LIST ARMCI_FLAVOURS)
    set(ARMCI_PC_INCLUDE /armci-mpi)
    set(ARMCI_PC_LIB /armci-mpi/${flavour})
    configure_file(${PROJECT_SOURCE_DIR}/cmake/armci.pc.in ${PROJECT_BINARY_DIR}/armci-mpi-${flavour}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/armci-mpi-${flavour}.pc DESTINATION ${pcdir})
  endif()
endforeach()
if(TARGET armci_mpirma)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/armci-mpirma.pc.in ${PROJECT_BINARY_DIR}/armci-mpirma.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/armci-mpirma.pc DESTINATION ${pcdir})
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ARMCI)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ARMCIConfig.cmake.in ${PROJECT_BINARY_DIR}/ARMCIConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ARMCIConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ARMCIConfig.cmake ${PROJECT_BINARY_DIR}/ARMCIConfigVersion.cmake
  DESTINATION ${package})
