# Compiles programs against the library per MPI flavour (none, openmpi, mpich), and adds runs of
# them to ctest. Programs are compiled as a user would compile them, with the flavour's own compiler
# and -larmci; which programs there are is not decided here.
# SPDX-License-Identifier: BSD-3-Clause

file(GLOB ARMCI_PUBLIC_HEADERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h)
file(GLOB ARMCI_CXX_HEADERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.hpp
  ${PROJECT_SOURCE_DIR}/include/armci/*.hpp)
add_custom_target(armci_examples)
add_custom_target(armci_tests)
add_dependencies(armci_tests armci_examples)

# Which flavours can be compiled in a language (CC, CXX or FC), and started.
foreach(language CC CXX FC)
  set(ARMCI_CAN_${language} "")
  foreach(flavour none openmpi mpich)
    if(ARMCI_${language}_${flavour} AND ARMCI_RUN_${flavour})
      list(APPEND ARMCI_CAN_${language} ${flavour})
    endif()
  endforeach()
endforeach()

# armci_program(OUTPUT <file> FLAVOUR <none|openmpi|mpich> TARGET <target that shall build it>
#               SOURCES <file>...
#               [ABI <classic|openmpi|mpich>] [INCLUDE <directory>] [RPATH <path>] [FLAGS <flag>...]
#               [DEPENDS <file>...] [LIBS <flag>...] [COARRAYS | SHMEM])
# COARRAYS: gfortran's, over libcaf_armci; a program in C calls it as gfortran does. SHMEM: with
# libshmem_armci.
function(armci_program)
  cmake_parse_arguments(A "COARRAYS;SHMEM" "OUTPUT;FLAVOUR;TARGET;ABI;INCLUDE;RPATH"
    "SOURCES;FLAGS;DEPENDS;LIBS" ${ARGN})
  if(NOT A_ABI)
    set(A_ABI classic)
  endif()
  if(NOT A_INCLUDE)
    set(A_INCLUDE ${PROJECT_SOURCE_DIR}/include)
  endif()
  get_filename_component(directory ${A_OUTPUT} DIRECTORY)
  if("${A_SOURCES}" MATCHES "\\.f90")
    set(command ${ARMCI_FC_${A_FLAVOUR}} ${ARMCI_FFLAGS} -I${ARMCI_MODULE_DIR_${A_ABI}}
      -J${A_OUTPUT}.mods)
    set(extra ${ARMCI_MODULE_DIR_${A_ABI}}/armci.mod)
  elseif("${A_SOURCES}" MATCHES "\\.cc")
    set(command ${ARMCI_CXX_${A_FLAVOUR}} ${ARMCI_CXXFLAGS} -I${A_INCLUDE})
    set(extra ${ARMCI_PUBLIC_HEADERS} ${ARMCI_CXX_HEADERS})
  else()
    set(command ${ARMCI_CC_${A_FLAVOUR}} ${ARMCI_CFLAGS} -I${A_INCLUDE})
    set(extra ${ARMCI_PUBLIC_HEADERS})
  endif()
  if(A_COARRAYS)
    list(APPEND A_LIBS -lcaf_armci)
    if("${A_SOURCES}" MATCHES "\\.f90")
      list(APPEND A_FLAGS -fcoarray=lib)
    endif()
  endif()
  if(A_SHMEM)
    list(APPEND A_LIBS -lshmem_armci)
  endif()
  set(lib ${ARMCI_LIBDIR_${A_ABI}})
  if(NOT A_RPATH)
    set(A_RPATH ${lib})
  endif()
  add_custom_command(OUTPUT ${A_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${directory} ${A_OUTPUT}.mods
    COMMAND ${command} ${A_FLAGS} -o ${A_OUTPUT} ${A_SOURCES} -L${lib} -Wl,-rpath,${A_RPATH}
      ${A_LIBS} -larmci ${ARMCI_LDFLAGS} -lm -lpthread
    DEPENDS ${A_SOURCES} ${A_DEPENDS} ${extra}
    COMMENT "compile ${A_OUTPUT}" VERBATIM)
  string(REPLACE "${PROJECT_BINARY_DIR}/" "" name "${A_OUTPUT}")
  string(REPLACE "/" "_" name "build_${name}")
  add_custom_target(${name} DEPENDS ${A_OUTPUT})
  if(TARGET armci_${A_ABI})
    add_dependencies(${name} armci_${A_ABI})
  endif()
  if(TARGET armci_fortran)
    add_dependencies(${name} armci_fortran)
  endif()
  if(A_COARRAYS)
    add_dependencies(${name} armci_caf)
  endif()
  if(A_SHMEM)
    add_dependencies(${name} armci_shmem)
  endif()
  add_dependencies(${A_TARGET} ${name})
endfunction()

# armci_run(<test name> LAUNCHER <single|none|openmpi|mpich> RANKS <n> COMMAND <program> <arg>...
#           [LABELS <label>...] [TIMEOUT <seconds>] [ENV NAME=value...])
# A run occupies as many processors as it has ranks, so that ctest does not start others beside a
# full machine; but one under Open MPI, whose launcher and daemons wait most of the time, only one.
function(armci_run name)
  cmake_parse_arguments(A "SERIAL" "LAUNCHER;RANKS;TIMEOUT" "COMMAND;LABELS;ENV" ${ARGN})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 60)
  endif()
  set(launch "")
  if(NOT A_LAUNCHER STREQUAL "single")
    armci_launcher(launch ${A_LAUNCHER} ${A_RANKS})
  endif()
  set(processors ${A_RANKS})
  if(A_LAUNCHER STREQUAL "openmpi")
    set(processors 1)
  endif()
  add_test(NAME ${name} COMMAND ${launch} ${A_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${A_LABELS}" TIMEOUT ${A_TIMEOUT}
    PROCESSORS ${processors} SKIP_RETURN_CODE 77 ENVIRONMENT "${A_ENV}")
  if(A_SERIAL)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

# A test that cannot be run here is shown as skipped, with its reason, and is never silently absent.
function(armci_skip name reason)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "SKIP: ${reason}")
  string(REGEX MATCH "^[a-z]+" label ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_REGULAR_EXPRESSION "SKIP: ")
endfunction()
