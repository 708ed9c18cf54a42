# Builds Global Arrays over this library by Global Arrays' own CMake files, unchanged. These compile
# ComEx, and cannot be told of another ARMCI. Give it to the build as an option,
#
#   cmake -DCMAKE_PROJECT_GlobalArrays_INCLUDE=PREFIX/share/libarmci/cmake/ga-external-armci.cmake
#
# so that CMake reads it at project(GlobalArrays), also where that is a part of another build. When
# CMake has read the rest of Global Arrays, its targets are changed: ga consists of no object of
# ComEx and links libarmci.so instead, its sources are compiled with the headers of that library,
# and the libraries armci and comex, which are installed, contain nothing and stand for libarmci.so.
# GA_RUNTIME, which chooses one of ComEx's networks, is without effect. A program that finds Global
# Arrays by find_package needs to know nothing of all this.
# SPDX-License-Identifier: BSD-3-Clause

if(NOT PROJECT_NAME STREQUAL "GlobalArrays" OR
    NOT PROJECT_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  return()
endif()
if(CMAKE_VERSION VERSION_LESS 3.19)
  message(FATAL_ERROR "ga-external-armci.cmake: needs CMake 3.19, this is ${CMAKE_VERSION}")
endif()
find_package(ARMCI CONFIG REQUIRED HINTS ${CMAKE_CURRENT_LIST_DIR}/../../..)

# armci_replace_comex(): of all targets of Global Arrays, once they are there.
function(armci_replace_comex)
  foreach(target ga armci_comex armci comex)
    if(NOT TARGET ${target})
      message(FATAL_ERROR "ga-external-armci.cmake: Global Arrays ${PROJECT_VERSION} has no target "
        "${target}: this file does not know how that version uses its ARMCI")
    endif()
  endforeach()
  get_target_property(library ARMCI::armci IMPORTED_LOCATION)
  get_target_property(include ARMCI::armci INTERFACE_INCLUDE_DIRECTORIES)
  message(STATUS "Global Arrays over libarmci ${ARMCI_VERSION}: ${library}")

  # By its path, since a program that finds Global Arrays does not look for ARMCI::armci; nor does
  # an installed libga.so find a library that no directory of the system has.
  get_target_property(sources ga SOURCES)
  list(REMOVE_ITEM sources "$<TARGET_OBJECTS:armci_comex>")
  set_property(TARGET ga PROPERTY SOURCES ${sources})
  target_link_libraries(ga PUBLIC ${library})
  set_property(TARGET ga PROPERTY INSTALL_RPATH_USE_LINK_PATH TRUE)

  # An archive needs a source. The name must not be one for which another linker takes it.
  set(nothing ${PROJECT_BINARY_DIR}/external_armci.c)
  file(WRITE ${nothing} "extern const char ga_external_armci[];\n"
    "const char ga_external_armci[] = \"${library}\";\n")
  set_property(TARGET armci_comex PROPERTY EXCLUDE_FROM_ALL TRUE)
  foreach(target armci comex)
    set_property(TARGET ${target} PROPERTY SOURCES ${nothing})
    set_property(TARGET ${target} PROPERTY OUTPUT_NAME ga_external_${target})
    set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES ${library})
  endforeach()

  # A generated header, on which Global Arrays lets the target depend by luck only: in a parallel
  # build, or of this target alone, it is not there yet.
  if(TARGET linalg AND TARGET GenerateF2C_CH)
    add_dependencies(linalg GenerateF2C_CH)
  endif()

  armci_replace_headers(${PROJECT_SOURCE_DIR} ${include})
  install(FILES ${include}/armci.h ${include}/message.h ${include}/parmci.h DESTINATION include/ga)
endfunction()

# armci_replace_headers(<directory> <include>): of the targets of a directory and of those below.
function(armci_replace_headers directory include)
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    foreach(property INCLUDE_DIRECTORIES INTERFACE_INCLUDE_DIRECTORIES)
      get_target_property(paths ${target} ${property})
      if(paths MATCHES "/comex/src-armci")
        string(REGEX REPLACE "[^;:]*/comex/src-armci" "${include}" paths "${paths}")
        set_property(TARGET ${target} PROPERTY ${property} "${paths}")
      endif()
    endforeach()
  endforeach()
  get_property(below DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(sub IN LISTS below)
    armci_replace_headers(${sub} ${include})
  endforeach()
endfunction()

cmake_language(DEFER CALL armci_replace_comex)
