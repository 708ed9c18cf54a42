# The Python package: which files are installed, and where they find the library. Nothing is
# compiled; Python is not needed here.
# SPDX-License-Identifier: BSD-3-Clause

set(ARMCI_INSTALL_PYTHONDIR ${CMAKE_INSTALL_DATAROOTDIR}/libarmci/python CACHE STRING
  "directory of the Python package armci, for PYTHONPATH")

install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/armci DESTINATION ${ARMCI_INSTALL_PYTHONDIR}
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)

# As a run path: relative, so that the tree may be moved; not where libraries are found anyway.
if(NOT CMAKE_SKIP_RPATH)
  if(IS_ABSOLUTE ${ARMCI_INSTALL_PYTHONDIR})
    file(RELATIVE_PATH ARMCI_PYTHON_LIBRARY ${ARMCI_INSTALL_PYTHONDIR}/armci
      ${CMAKE_INSTALL_FULL_LIBDIR}/libarmci.so.0)
  else()
    file(RELATIVE_PATH ARMCI_PYTHON_LIBRARY /prefix/${ARMCI_INSTALL_PYTHONDIR}/armci
      /prefix/${CMAKE_INSTALL_LIBDIR}/libarmci.so.0)
  endif()
  string(CONCAT where "# SPDX-License-Identifier: BSD-3-Clause\n"
    "\"\"\"Where the installation has put the library, from this directory.\"\"\"\n\n"
    "LIBRARY = \"@ARMCI_PYTHON_LIBRARY@\"\n")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/python/_where.py @ONLY CONTENT "${where}")
  install(FILES ${PROJECT_BINARY_DIR}/python/_where.py DESTINATION ${ARMCI_INSTALL_PYTHONDIR}/armci)
endif()
