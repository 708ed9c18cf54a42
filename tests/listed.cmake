# The programs.txt of a room, where one test runs many programs: lines of name, numbers of ranks,
# tier, settings. Which programs are built is for the room to say. A program without a line fails
# the test ROOM/list, as does a line without a program.
# SPDX-License-Identifier: BSD-3-Clause

# programs_listed(<room> <tier>|<tier>...): listed_names, listed_tiers and listed_sources, one entry
# for each line.
function(programs_listed room tiers)
  set(directory ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${room})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${directory}/programs.txt)
  file(GLOB present CONFIGURE_DEPENDS RELATIVE ${directory} ${directory}/*.c ${directory}/*.cc
    ${directory}/*.f90)
  foreach(result unlisted names tier_of sources)
    set(${result} "")
  endforeach()
  file(STRINGS ${directory}/programs.txt lines REGEX "^[a-z]")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^([a-z0-9_]+) [0-9,]+ (${tiers})( |$)")
      string(APPEND unlisted " not a line: ${line};")
      continue()
    endif()
    set(name ${CMAKE_MATCH_1})
    set(tier ${CMAKE_MATCH_2})
    set(source "")
    foreach(suffix c cc f90)
      if(${name}.${suffix} IN_LIST present)
        set(source ${name}.${suffix})
      endif()
    endforeach()
    if(NOT source)
      string(APPEND unlisted " no program ${name};")
      continue()
    endif()
    list(REMOVE_ITEM present ${source})
    list(APPEND names ${name})
    list(APPEND tier_of ${tier})
    list(APPEND sources ${source})
  endforeach()
  if(present)
    string(APPEND unlisted " no line for ${present};")
  endif()
  add_test(NAME ${room}/list
    COMMAND sh -c "echo \"programs.txt and the directory differ:$1\"; test -z \"$1\""
    sh "${unlisted}")
  set_tests_properties(${room}/list PROPERTIES LABELS ${room})
  set(listed_names ${names} PARENT_SCOPE)
  set(listed_tiers ${tier_of} PARENT_SCOPE)
  set(listed_sources ${sources} PARENT_SCOPE)
endfunction()
