# The C and Fortran programs and the examples: compiled for every MPI flavour here, and run so that
# each program meets each launcher, each of its numbers of ranks, and both paths on two and on four
# ranks; not each combination of the three.
#
#              1, 3, 5, 9 ranks   2 ranks   4 ranks
#   armcirun   by turns           fast      slow
#   one MPI                       slow
#   the other                               fast
#
# Which MPI is which, and which path is whose turn, alternates from program to program.
# Which programs there are, and what is special about one, is said in programs.txt beside them, not
# here.
# SPDX-License-Identifier: BSD-3-Clause

set(turns fast slow)
set(setting_fast "ARMCI_FASTPATH=y")
set(setting_slow "ARMCI_FASTPATH=n")
set(launcher_none armcirun)
set(launcher_openmpi openmpi)
set(launcher_mpich mpich)
set(here ${CMAKE_CURRENT_SOURCE_DIR})
set(out ${PROJECT_BINARY_DIR}/tests)
add_custom_target(armci_quick) # what make quick needs

# programs_cells(<flavour> <turn> <ranks, as a list> <result>): the runs, as ranks/path; <turn> is
# the number of the program.
function(programs_cells flavour turn ranks result)
  math(EXPR odd "${turn} % 2")
  set(cells "")
  if(flavour STREQUAL none)
    foreach(n IN LISTS ranks)
      list(GET turns ${odd} path)
      if(n EQUAL 2)
        set(path fast)
      elseif(n EQUAL 4)
        set(path slow)
      else()
        math(EXPR odd "1 - ${odd}")
      endif()
      list(APPEND cells ${n}/${path})
    endforeach()
  else()
    list(GET ranks 0 n)
    if(2 IN_LIST ranks)
      set(n 2)
    endif()
    set(path slow)
    if("${flavour}/${odd}" MATCHES "openmpi/1|mpich/0")
      set(path fast)
      if(4 IN_LIST ranks)
        set(n 4)
      endif()
    endif()
    set(cells ${n}/${path})
  endif()
  set(${result} ${cells} PARENT_SCOPE)
endfunction()

# programs_matrix(<room> <name> <flavour> <turn> <program> <ranks, as a list> [NAME=value...]): one
# test per cell.
function(programs_matrix room name flavour turn program ranks)
  programs_cells(${flavour} ${turn} "${ranks}" cells)
  foreach(cell IN LISTS cells)
    string(REGEX MATCH "^[0-9]+" n ${cell})
    string(REGEX MATCH "[a-z]+$" path ${cell})
    armci_run(${room}/${name}/${launcher_${flavour}}/n${cell} LAUNCHER ${flavour} RANKS ${n}
      COMMAND ${program} LABELS ${room} TIMEOUT 120 ENV "${setting_${path}}" ${ARGN})
  endforeach()
endfunction()

# programs_build(<room> <name> <flavour> <source> <result>): the program's path in <result>.
function(programs_build room name flavour source result)
  file(GLOB headers CONFIGURE_DEPENDS ${here}/${room}/*.h ${here}/${room}/*.inc)
  set(program ${out}/${room}/${flavour}/${name})
  armci_program(OUTPUT ${program} FLAVOUR ${flavour} TARGET armci_tests SOURCES ${source}
    DEPENDS ${headers})
  set(${result} ${program} PARENT_SCOPE)
endfunction()

# C: the list says name, ranks and settings. A program without a line fails a test, as does a line
# without a program.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${here}/c/programs.txt)
set(listed "")
set(turn 0)
set(unlisted "")
file(STRINGS ${here}/c/programs.txt lines REGEX "^[a-z]")
foreach(line IN LISTS lines)
  separate_arguments(settings UNIX_COMMAND "${line}")
  list(POP_FRONT settings name ranks)
  string(REPLACE "," ";" ranks "${ranks}")
  list(APPEND listed ${name}.c)
  math(EXPR turn "${turn} + 1")
  if(NOT EXISTS ${here}/c/${name}.c)
    string(APPEND unlisted " no ${name}.c;")
    continue()
  endif()
  foreach(flavour IN LISTS ARMCI_CAN_CC)
    programs_build(c ${name} ${flavour} ${here}/c/${name}.c program)
    programs_matrix(c ${name} ${flavour} ${turn} ${program} "${ranks}" ${settings})
  endforeach()
  if(TARGET build_tests_c_none_${name})
    add_dependencies(armci_quick build_tests_c_none_${name})
  endif()
  if("1" IN_LIST ranks)
    armci_run(c/${name}/single/n1/fast LAUNCHER single RANKS 1 COMMAND ${out}/c/none/${name}
      LABELS c TIMEOUT 120
      ENV ${settings})
  endif()
endforeach()
foreach(path fast slow)
  if(TEST c/idle/openmpi/n2/${path})
    # It measures what it takes of the processors.
    set_tests_properties(c/idle/openmpi/n2/${path} PROPERTIES PROCESSORS 2)
  endif()
endforeach()
file(GLOB present CONFIGURE_DEPENDS RELATIVE ${here}/c ${here}/c/*.c)
list(REMOVE_ITEM present ${listed})
if(present)
  string(APPEND unlisted " no line for ${present};")
endif()
add_test(NAME c/list
  COMMAND sh -c "echo \"programs.txt and the directory differ:$1\"; test -z \"$1\""
  sh "${unlisted}")
set_tests_properties(c/list PROPERTIES LABELS c)

# The model test for longer than the matrix runs it.
set(ARMCI_MODEL_SECONDS 15 CACHE STRING "seconds of random operations in the test c/model_long")
math(EXPR model_limit "${ARMCI_MODEL_SECONDS} + 120")
foreach(path fast slow)
  if("none" IN_LIST ARMCI_CAN_CC)
    armci_run(c/model_long/armcirun/n4/${path} LAUNCHER none RANKS 4 COMMAND ${out}/c/none/model
      LABELS c
      TIMEOUT ${model_limit} ENV "${setting_${path}}" MODEL_SECONDS=${ARMCI_MODEL_SECONDS})
  endif()
endforeach()

# Fortran: every program there is; one that uses MPI itself only where there is one.
file(GLOB sources CONFIGURE_DEPENDS ${here}/fortran/*.f90)
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  math(EXPR turn "${turn} + 1")
  file(STRINGS ${source} uses_mpi REGEX "^ *use +mpi")
  foreach(flavour IN LISTS ARMCI_CAN_FC)
    if(TARGET armci_fortran AND NOT (uses_mpi AND flavour STREQUAL "none"))
      programs_build(fortran ${name} ${flavour} ${source} program)
      programs_matrix(fortran ${name} ${flavour} ${turn} ${program} "1;2;4")
    endif()
  endforeach()
endforeach()

# Examples: on 4 ranks without MPI, on 2 with each MPI.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/c/*.c
  ${PROJECT_SOURCE_DIR}/examples/cxx/*.cc ${PROJECT_SOURCE_DIR}/examples/fortran/*.f90)
set(ranks_none 4)
set(ranks_openmpi 2)
set(ranks_mpich 2)
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  set(language c)
  set(can ${ARMCI_CAN_CC})
  if(source MATCHES "f90$")
    set(language fortran)
    set(can ${ARMCI_CAN_FC})
  elseif(source MATCHES "cc$")
    set(language cxx)
    set(can ${ARMCI_CAN_CXX})
    # The header is the same under an MPI, and tests/cxx covers that.
    list(FILTER can INCLUDE REGEX none)
  endif()
  foreach(flavour IN LISTS can)
    if(NOT language STREQUAL "fortran" OR TARGET armci_fortran)
      set(program ${PROJECT_BINARY_DIR}/examples/${flavour}/${language}/${name})
      set(target armci_tests)
      if(flavour STREQUAL "none")
        set(target armci_examples)
      endif()
      armci_program(OUTPUT ${program} FLAVOUR ${flavour} TARGET ${target} SOURCES ${source})
      armci_run(examples/${language}/${name}/${launcher_${flavour}} LAUNCHER ${flavour}
        RANKS ${ranks_${flavour}}
        COMMAND ${program} LABELS examples)
    endif()
  endforeach()
endforeach()

foreach(flavour openmpi mpich)
  if(NOT flavour IN_LIST ARMCI_CAN_CC)
    armci_skip(c/${flavour} "no C compiler wrapper or launcher of ${flavour}")
  endif()
  if(NOT flavour IN_LIST ARMCI_CAN_FC)
    armci_skip(fortran/${flavour} "no Fortran compiler wrapper or launcher of ${flavour}")
  endif()
endforeach()
