# The manual pages of section 3 and the HTML reference, written from the comments of the headers and
# the guides by docs/reference, which runs here: also when what is built is for another processor.
# SPDX-License-Identifier: BSD-3-Clause

set(ARMCI_REFERENCE ${PROJECT_BINARY_DIR}/reference)
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/reference/*.go
  ${PROJECT_SOURCE_DIR}/docs/reference/anchor/*.go
  ${PROJECT_SOURCE_DIR}/docs/reference/*.js ${PROJECT_SOURCE_DIR}/*.md
  ${PROJECT_SOURCE_DIR}/docs/*.md ${PROJECT_SOURCE_DIR}/docs/plots/*.svg
  ${PROJECT_SOURCE_DIR}/docs/plots/papers/*.svg
  ${PROJECT_SOURCE_DIR}/docs/reference/examples/*.c
  ${PROJECT_SOURCE_DIR}/include/*.h ${PROJECT_SOURCE_DIR}/include/armci-fortran/*.inc)
# The date is that of the page armci(7), so that two builds of one source are equal.
file(STRINGS ${PROJECT_SOURCE_DIR}/docs/man/armci.7 date REGEX "^\\.Dd ")
string(REPLACE ".Dd " "" date "${date}")
add_custom_command(OUTPUT ${ARMCI_REFERENCE}/html/index.html
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${ARMCI_REFERENCE}
  COMMAND ${CMAKE_COMMAND} -E env CGO_ENABLED=0 --unset=GOARCH ${ARMCI_GO} run -trimpath
    -buildvcs=false ./docs/reference -man ${ARMCI_REFERENCE}/man3 -html ${ARMCI_REFERENCE}/html
    "-date=${date}" -version ${PROJECT_VERSION}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/docs/man/armci.7
  COMMENT "reference" VERBATIM)
add_custom_target(armci_reference ALL DEPENDS ${ARMCI_REFERENCE}/html/index.html)
install(DIRECTORY ${ARMCI_REFERENCE}/man3/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(DIRECTORY ${ARMCI_REFERENCE}/html/
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/libarmci/html)
