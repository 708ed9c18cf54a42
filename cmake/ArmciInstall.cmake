# What `make install` puts where: libraries, headers, Fortran module, commands, manual pages,
# guides, examples, licences, pkg-config files and the CMake package. Everything installed finds its
# neighbours relative to itself, so a prefix may be moved.
# SPDX-License-Identifier: BSD-3-Clause
include(CMakePackageConfigHelpers)

# Where libarmci.so goes, the name for the linker, and libarmci-mpirma.so. A distribution that has
# another -larmci, and no place for what is preloaded only, has them in a directory that is not
# searched.
set(ARMCI_INSTALL_PRIVATEDIR ${CMAKE_INSTALL_LIBDIR}
  CACHE STRING "directory of libarmci.so (for the linker) and libarmci-mpirma.so")
file(RELATIVE_PATH ARMCI_PRIVATE_UP /prefix/${ARMCI_INSTALL_PRIVATEDIR}
  /prefix/${CMAKE_INSTALL_LIBDIR})

foreach(flavour IN LISTS ARMCI_FLAVOURS)
  if(flavour STREQUAL "classic")
    set(sub "")
    set(soname libarmci.so.0)
  else()
    set(sub /armci-mpi/${flavour})
    set(soname libarmci.so.1)
  endif()
  install(PROGRAMS ${ARMCI_LIBDIR_${flavour}}/${soname} DESTINATION ${CMAKE_INSTALL_LIBDIR}${sub})
  if(flavour STREQUAL "classic" AND ARMCI_PRIVATE_UP)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/link)
    file(CREATE_LINK ${ARMCI_PRIVATE_UP}/${soname} ${PROJECT_BINARY_DIR}/link/libarmci.so SYMBOLIC)
    install(FILES ${PROJECT_BINARY_DIR}/link/libarmci.so DESTINATION ${ARMCI_INSTALL_PRIVATEDIR})
  else()
    install(FILES ${ARMCI_LIBDIR_${flavour}}/libarmci.so DESTINATION ${CMAKE_INSTALL_LIBDIR}${sub})
  endif()
endforeach()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.f90" PATTERN "*.inc")
if(TARGET armci_fortran)
  install(DIRECTORY ${ARMCI_MODULE_DIR}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.mod")
endif()
foreach(name IN LISTS ARMCI_COMMANDS)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()
file(RELATIVE_PATH ARMCI_BIN_UP /prefix/${CMAKE_INSTALL_BINDIR} /prefix)
string(REGEX REPLACE "/$" "" ARMCI_BIN_UP "${ARMCI_BIN_UP}")
# armci_wrapper(<name> <variable with the compiler> <compiler> <option> <Debian's package of it>
# [<template>]): the same command for each language.
function(armci_wrapper ARMCI_WRAPPER variable compiler ARMCI_WRAPPER_OPTION ARMCI_WRAPPER_PACKAGE)
  set(ARMCI_WRAPPER_COMPILER "${variable}:-${compiler}")
  set(ARMCI_WRAPPER_WORDS "${variable}, or ${compiler}")
  set(template armcicc.in)
  if(ARGC GREATER 5)
    set(template ${ARGV5})
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${template} ${PROJECT_BINARY_DIR}/bin/${ARMCI_WRAPPER}
    @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
      WORLD_EXECUTE)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/${ARMCI_WRAPPER} DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
armci_wrapper(armcicc CC cc -cc gcc)
armci_wrapper(armcicxx CXX c++ -cxx g++)
armci_wrapper(armcifort FC gfortran -fc gfortran)
# In the build tree, where make run points to them, they find the headers beside the library, too.
file(GLOB headers RELATIVE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/*)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include)
foreach(header IN LISTS headers)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/${header} ${PROJECT_BINARY_DIR}/include/${header}
    SYMBOLIC)
endforeach()
if(TARGET armci_fortran)
  file(CREATE_LINK ${ARMCI_MODULE_DIR}/armci.mod ${PROJECT_BINARY_DIR}/include/armci.mod SYMBOLIC)
endif()
if(TARGET armci_mpirma)
  install(PROGRAMS ${ARMCI_MPIRMA} DESTINATION ${ARMCI_INSTALL_PRIVATEDIR})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/armci-mpirma.in ${PROJECT_BINARY_DIR}/bin/armci-mpirma
    @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
      WORLD_EXECUTE)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/armci-mpirma DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET armci_caf)
  install(TARGETS armci_caf armci_caf_static DESTINATION ${CMAKE_INSTALL_LIBDIR})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/caf-armci.in ${PROJECT_BINARY_DIR}/bin/caf-armci @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
      WORLD_EXECUTE)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/caf-armci DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# The commands by the names of the specification are links in a directory of their own: another
# SHMEM may have the same.
if(TARGET armci_shmem)
  install(TARGETS armci_shmem armci_shmem_static DESTINATION ${CMAKE_INSTALL_LIBDIR})
  foreach(header IN LISTS ARMCI_SHMEM_HEADERS)
    get_filename_component(sub ${header} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/shmem/${header}
      DESTINATION ${ARMCI_SHMEM_INCLUDEDIR}/${sub})
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/${ARMCI_SHMEM_INCLUDEDIR}/${sub})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/shmem/${header}
      ${PROJECT_BINARY_DIR}/${ARMCI_SHMEM_INCLUDEDIR}/${header} SYMBOLIC)
  endforeach()
  armci_wrapper(armci-oshcc CC cc -cc gcc armci-oshcc.in)
  armci_wrapper(armci-oshc++ CXX c++ -cxx g++ armci-oshcc.in)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/armci-oshrun.in ${PROJECT_BINARY_DIR}/bin/armci-oshrun
    @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
      WORLD_EXECUTE)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/armci-oshrun DESTINATION ${CMAKE_INSTALL_BINDIR})
  set(links ${CMAKE_INSTALL_LIBDIR}/armci-shmem/bin)
  file(RELATIVE_PATH up /prefix/${links} /prefix/${CMAKE_INSTALL_BINDIR})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/shmem-links)
  foreach(name cc c++ run)
    file(CREATE_LINK ${up}/armci-osh${name} ${PROJECT_BINARY_DIR}/shmem-links/osh${name} SYMBOLIC)
    install(FILES ${PROJECT_BINARY_DIR}/shmem-links/osh${name} DESTINATION ${links})
  endforeach()
  file(CREATE_LINK ${up}/armci-oshc++ ${PROJECT_BINARY_DIR}/shmem-links/oshcxx SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/shmem-links/oshcxx DESTINATION ${links})
endif()
# Guides and examples lie beside each other as in the source, so that links between them hold.
set(docdir ${CMAKE_INSTALL_DATAROOTDIR}/doc/libarmci)
install(DIRECTORY ${PROJECT_BINARY_DIR}/licences/ DESTINATION ${docdir})
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${docdir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${docdir}
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.c" PATTERN "*.cc" PATTERN "*.f90"
  PATTERN "*.py"
  PATTERN man EXCLUDE PATTERN reference EXCLUDE PATTERN __pycache__ EXCLUDE)
foreach(section 1 3 7)
  file(GLOB pages ${PROJECT_SOURCE_DIR}/docs/man/*.${section})
  if(NOT TARGET armci_mpirma)
    list(FILTER pages EXCLUDE REGEX "/armci-mpirma\\.1$")
  endif()
  if(NOT TARGET armci_caf)
    list(FILTER pages EXCLUDE REGEX "/caf-armci\\.1$")
  endif()
  if(NOT TARGET armci_shmem)
    list(FILTER pages EXCLUDE REGEX "/armci-oshcc\\.1$")
  endif()
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()

# pkg-config: armci, armci-mpi-<flavour> for the other ABI, armci-caf for coarrays, armci-shmem and
# armci-mpirma, which says where the library to preload is. The path back to the prefix is counted
# from the .pc file, so that the file says the truth wherever the tree is.
set(pcdir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH ARMCI_UP /prefix/${pcdir} /prefix)
string(REGEX REPLACE "/$" "" ARMCI_UP "${ARMCI_UP}")
set(ARMCI_PC_CFLAGS "-I\${includedir}")
set(ARMCI_PC_LIBDIR ${ARMCI_INSTALL_PRIVATEDIR})
set(ARMCI_PC_RPATH "")
configure_file(${PROJECT_SOURCE_DIR}/cmake/armci.pc.in ${PROJECT_BINARY_DIR}/armci.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/armci.pc DESTINATION ${pcdir})
foreach(flavour openmpi mpich)
  if(flavour IN_LIST ARMCI_FLAVOURS)
    # The headers, and the Fortran module.
    set(ARMCI_PC_CFLAGS "-I\${includedir}/armci-mpi -I\${includedir}/armci-mpi/${flavour}")
    set(ARMCI_PC_LIBDIR ${CMAKE_INSTALL_LIBDIR}/armci-mpi/${flavour})
    set(ARMCI_PC_RPATH " -Wl,-rpath,\${libdir}") # no system searches that directory
    configure_file(${PROJECT_SOURCE_DIR}/cmake/armci.pc.in
      ${PROJECT_BINARY_DIR}/armci-mpi-${flavour}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/armci-mpi-${flavour}.pc DESTINATION ${pcdir})
  endif()
endforeach()
if(TARGET armci_caf)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/armci-caf.pc.in ${PROJECT_BINARY_DIR}/armci-caf.pc
    @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/armci-caf.pc DESTINATION ${pcdir})
endif()
if(TARGET armci_shmem)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/armci-shmem.pc.in
    ${PROJECT_BINARY_DIR}/armci-shmem.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/armci-shmem.pc DESTINATION ${pcdir})
endif()
if(TARGET armci_mpirma)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/armci-mpirma.pc.in
    ${PROJECT_BINARY_DIR}/armci-mpirma.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/armci-mpirma.pc DESTINATION ${pcdir})
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ARMCI)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ARMCIConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ARMCIConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR
    ARMCI_INSTALL_PRIVATEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ARMCIConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ARMCIConfig.cmake ${PROJECT_BINARY_DIR}/ARMCIConfigVersion.cmake
  DESTINATION ${package})
install(FILES ${PROJECT_SOURCE_DIR}/cmake/ga-external-armci.cmake
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/libarmci/cmake)
