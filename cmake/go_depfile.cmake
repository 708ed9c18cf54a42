# Included by go_build.cmake: writes WORK/depfile, which tells make what OUTPUT was built from: the
# files of PACKAGE and of the packages of this module that it imports, the headers that these
# include (go_headers.cmake), and their directories: their times change as files come and go.
# CMake adds the depfile to what it remembers in DEPENDS, and would build for ever what once
# depended on a file that is gone: it forgets that here.
# Input: GO MODE SOURCE PACKAGE OUTPUT WORK DEPENDS, and tags.
# SPDX-License-Identifier: BSD-3-Clause

set(lists .GoFiles .CgoFiles .CFiles .HFiles .SFiles .EmbedFiles)
set(which -deps)
if(MODE STREQUAL "test")
  list(APPEND lists .TestGoFiles .XTestGoFiles)
  list(APPEND which -test)
endif()
set(template "{{if .Module}}{{if .Module.Main}}{{$dir := .Dir}}{{$dir}}\n")
foreach(list IN LISTS lists)
  string(APPEND template "{{range ${list}}}{{$dir}}/{{.}}\n{{end}}")
endforeach()
string(APPEND template "{{end}}{{end}}")
execute_process(
  COMMAND ${GO} list ${which} -tags ${tags} -f ${template} ${PACKAGE}
  WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE files RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "go list ${PACKAGE} failed")
endif()
string(REGEX MATCHALL "[^\n]+" files "${files}")
list(FILTER files INCLUDE REGEX "^${SOURCE}/") # not what go makes of the tests
list(FILTER files EXCLUDE REGEX "/zz_headers\\.go$")
foreach(file IN LISTS files)
  if(DEFINED armci_headers_${file}) # a directory
    list(APPEND files ${armci_headers_${file}})
  endif()
endforeach()
list(REMOVE_DUPLICATES files)
list(JOIN files " \\\n  " files)
file(WRITE ${WORK}/depfile "${OUTPUT}: ${files}\n")
file(REMOVE ${DEPENDS})
