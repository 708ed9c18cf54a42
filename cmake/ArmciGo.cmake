# Finds Go and wraps `go build`: armci_go_library makes a C shared library, armci_go_command a
# program, armci_go_test the tests of a package as a program.
# The building itself is the script go_build.cmake; nothing here may know which libraries or
# commands exist.
# SPDX-License-Identifier: BSD-3-Clause

find_program(ARMCI_GO go PATHS /usr/local/go/bin /usr/lib/go/bin DOC "the go command")
if(NOT ARMCI_GO)
  message(FATAL_ERROR "go is missing: install Go 1.26 or later, or set ARMCI_GO to the go command")
endif()

# The modules that go.mod names: in Go's cache, fetched into it now, or in the directory vendor.
# Here and not in the middle of a build, so that what is missing is said in one place; and their
# licences are collected.
include(go_modules)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/go.mod
  ${PROJECT_SOURCE_DIR}/go.sum)
armci_go_modules(${PROJECT_BINARY_DIR}/licences)

# Flags of C and of the linker that every go command gets, and where go_headers.cmake may write: a
# name that ./... leaves out.
set(ARMCI_GO_FLAGS "-DCFLAGS=${ARMCI_CFLAGS_USER} ${ARMCI_WERROR_FLAG}"
  "-DLDFLAGS=${ARMCI_LDFLAGS_USER}" -DHEADERS=${PROJECT_BINARY_DIR}/go/_headers)
if(CMAKE_CROSSCOMPILING) # the toolchain file says for which processor; go takes CMake's compiler
  list(APPEND ARMCI_GO_FLAGS -DGOARCH=${ARMCI_GOARCH} -DCC=${CMAKE_C_COMPILER})
endif()

# What every go command depends on. The files of a package and of those that it imports, and the
# headers that these include, are in the depfile that go_build.cmake writes.
set(ARMCI_GO_INPUTS ${PROJECT_SOURCE_DIR}/go.mod ${PROJECT_SOURCE_DIR}/go.sum
  ${PROJECT_SOURCE_DIR}/cmake/go_build.cmake ${PROJECT_SOURCE_DIR}/cmake/go_depfile.cmake
  ${PROJECT_SOURCE_DIR}/cmake/go_headers.cmake ${PROJECT_SOURCE_DIR}/cmake/go_ppc64le.cmake)

# armci_go_target(<target> <file> [ALL]): the first of them compiles what they share, and the others
# begin after it; all at once, each would compile it, for Go's cache has what a command has ended.
function(armci_go_target target output)
  add_custom_target(${target} ${ARGN} DEPENDS ${output})
  get_property(first GLOBAL PROPERTY ARMCI_GO_FIRST)
  if(first)
    add_dependencies(${target} ${first})
  else()
    set_property(GLOBAL PROPERTY ARMCI_GO_FIRST ${target})
  endif()
endfunction()

# armci_go_library(<target> OUTPUT <file> PACKAGE <./dir> SONAME <name>
#                  MAP <version script> [TAG <build tag>])
# Not by flags of its own: with the same flags, Go compiles what the libraries share once.
function(armci_go_library target)
  cmake_parse_arguments(A "" "OUTPUT;PACKAGE;SONAME;MAP;TAG" "" ${ARGN})
  add_custom_command(OUTPUT ${A_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DGO=${ARMCI_GO} -DMODE=c-shared -DSOURCE=${PROJECT_SOURCE_DIR}
      -DPACKAGE=${A_PACKAGE} -DOUTPUT=${A_OUTPUT} -DSONAME=${A_SONAME} -DMAP=${A_MAP}
      -DTAG=${A_TAG} ${ARMCI_GO_FLAGS}
      -DVERSION=${PROJECT_VERSION} -DWORK=${PROJECT_BINARY_DIR}/go/${target}
      -DDEPENDS=${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/compiler_depend.internal
      -P ${PROJECT_SOURCE_DIR}/cmake/go_build.cmake
    DEPENDS ${ARMCI_GO_INPUTS} ${A_MAP}
    DEPFILE ${PROJECT_BINARY_DIR}/go/${target}/depfile
    COMMENT "go build ${target}" VERBATIM)
  armci_go_target(${target} ${A_OUTPUT} ALL)
endfunction()

# armci_go_program(<name> <./dir> <file> [ALL]): builds a program, with ALL as a part of everything
function(armci_go_program name package output)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DGO=${ARMCI_GO} -DMODE=exe -DSOURCE=${PROJECT_SOURCE_DIR}
      -DPACKAGE=${package}
      -DOUTPUT=${output} -DVERSION=${PROJECT_VERSION} ${ARMCI_GO_FLAGS}
      -DWORK=${PROJECT_BINARY_DIR}/go/${name}
      -DDEPENDS=${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/compiler_depend.internal
      -P ${PROJECT_SOURCE_DIR}/cmake/go_build.cmake
    DEPENDS ${ARMCI_GO_INPUTS}
    DEPFILE ${PROJECT_BINARY_DIR}/go/${name}/depfile
    COMMENT "go build ${name}" VERBATIM)
  armci_go_target(${name} ${output} ${ARGN})
endfunction()

# armci_go_command(<name>): builds ./cmd/<name> into bin/<name>
function(armci_go_command name)
  armci_go_program(${name} ./cmd/${name} ${PROJECT_BINARY_DIR}/bin/${name} ALL)
endfunction()

# armci_go_test(<target> OUTPUT <file> PACKAGE <dir>): not under the race detector; built by
# armci_tests.
function(armci_go_test target)
  cmake_parse_arguments(A "" "OUTPUT;PACKAGE" "" ${ARGN})
  add_custom_command(OUTPUT ${A_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DGO=${ARMCI_GO} -DMODE=test -DSOURCE=${PROJECT_SOURCE_DIR}
      -DPACKAGE=./${A_PACKAGE}
      -DOUTPUT=${A_OUTPUT} -DVERSION=${PROJECT_VERSION} ${ARMCI_GO_FLAGS}
      -DWORK=${PROJECT_BINARY_DIR}/go/${target}
      -DDEPENDS=${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/compiler_depend.internal
      -P ${PROJECT_SOURCE_DIR}/cmake/go_build.cmake
    DEPENDS ${ARMCI_GO_INPUTS}
    DEPFILE ${PROJECT_BINARY_DIR}/go/${target}/depfile
    COMMENT "go test -c ${A_PACKAGE}" VERBATIM)
  armci_go_target(${target} ${A_OUTPUT})
  add_dependencies(armci_tests ${target})
endfunction()
