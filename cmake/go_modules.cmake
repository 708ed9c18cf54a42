# armci_go_modules(<directory>): sees to it that the Go modules which the library, its commands and
# its reference are made by can be had, and copies the licences of those that are parts of what is
# installed, and Go's own, into the directory. It must not change go.mod or go.sum.
# SPDX-License-Identifier: BSD-3-Clause

function(armci_go_modules directory)
  # Of every package: its module's path, or std, and its directory, which is below the module's.
  execute_process(COMMAND ${ARMCI_GO} list -deps
      -f "{{with .Module}}{{.Path}}{{else}}std{{end}} {{.Dir}}" ./capi ./cmd/...
      ./docs/reference
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE packages ERROR_VARIABLE why
    RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    string(REGEX REPLACE "(^|\n)(go: )?downloading [^\n]*" "" why "${why}")
    string(STRIP "${why}" why)
    message(FATAL_ERROR
      "the Go modules that go.mod names are neither here nor can they be fetched:\n${why}\n"
      "Let Go reach a module proxy (go env GOPROXY), once; or run \"go mod vendor\" in this "
      "source tree where it can, and bring the directory vendor here: then nothing is fetched.")
  endif()

  file(REMOVE_RECURSE ${directory})
  set(seen libarmci std command-line-arguments github.com/yuin/goldmark) # only docs/reference's
  string(REPLACE "\n" ";" packages "${packages}")
  foreach(package IN LISTS packages)
    string(REGEX MATCH "^([^ ]+) (.+)$" matched "${package}")
    set(module "${CMAKE_MATCH_1}")
    if(matched AND NOT module IN_LIST seen)
      list(APPEND seen ${module})
      armci_licence(${module} "${CMAKE_MATCH_2}" ${directory})
    endif()
  endforeach()
  execute_process(COMMAND ${ARMCI_GO} env GOROOT OUTPUT_VARIABLE goroot
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(EXISTS ${goroot}/LICENSE)
    configure_file(${goroot}/LICENSE ${directory}/go.txt COPYONLY)
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/LICENSE ${directory}/libarmci.txt COPYONLY)
endfunction()

# armci_licence(<module> <directory of a package> <into>): the licence is in the module's root,
# above the package.
function(armci_licence module package directory)
  string(REPLACE "/" "-" name ${module})
  set(above ${package})
  foreach(level RANGE 8)
    if(EXISTS ${above}/LICENSE)
      configure_file(${above}/LICENSE ${directory}/${name}.txt COPYONLY)
      break()
    endif()
    get_filename_component(above ${above} DIRECTORY)
  endforeach()
  if(NOT EXISTS ${directory}/${name}.txt)
    message(FATAL_ERROR "no file LICENSE of the module ${module} at or above ${package}")
  endif()
  # cgosymbolizer contains libbacktrace, whose licence is the first comment of its header.
  if(EXISTS ${package}/backtrace.h)
    file(READ ${package}/backtrace.h text)
    string(FIND "${text}" "*/" end)
    string(SUBSTRING "${text}" 0 ${end} text)
    file(WRITE ${directory}/libbacktrace.txt "${text}*/\n")
  endif()
endfunction()
