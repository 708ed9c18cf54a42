# Included by go_build.cmake: what a build for ppc64le needs besides, in the list go_extra.
# In golang.org/x/sys (v0.49) the functions that make system calls jump to package syscall's through
# R31, where the start of a function in a shared library takes its own address from R12: it computes
# a wrong table of contents, and the first system call crashes. So the library is built with a copy
# of that module in which the jumps go through R12.
# It must not change the module itself, nor go.mod.
# Input: GO SOURCE WORK.
# SPDX-License-Identifier: BSD-3-Clause

set(go_extra "")
execute_process(COMMAND ${GO} env GOARCH OUTPUT_VARIABLE processor OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT processor STREQUAL "ppc64le")
  return()
endif()
set(file unix/asm_linux_ppc64x.s)
set(copy ${WORK}/sys)
if(EXISTS ${SOURCE}/vendor/golang.org/x/sys/${file})
  set(module ${SOURCE}/vendor/golang.org/x/sys)
else()
  execute_process(COMMAND ${GO} list -m -f "{{.Dir}}" golang.org/x/sys WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE module OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
file(READ ${module}/${file} assembly)
string(REGEX REPLACE "\\), R31\n\tMOVD\tR31, CTR" "), R12\n\tMOVD\tR12, CTR" fixed "${assembly}")
if(fixed STREQUAL assembly)
  return() # it has been mended there
endif()
if(module MATCHES "/vendor/") # Go lets single files be replaced, except in its cache of modules
  file(WRITE ${copy}/${file} "${fixed}")
  file(WRITE ${WORK}/overlay.json "{\"Replace\": {\"${module}/${file}\": \"${copy}/${file}\"}}\n")
  set(go_extra -overlay ${WORK}/overlay.json)
else()
  file(REMOVE_RECURSE ${copy})
  file(COPY ${module}/ DESTINATION ${copy} FILE_PERMISSIONS OWNER_READ OWNER_WRITE
    DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  file(WRITE ${copy}/${file} "${fixed}")
  file(READ ${SOURCE}/go.mod mod)
  file(WRITE ${WORK}/go.mod "${mod}\nreplace golang.org/x/sys => ${copy}\n")
  configure_file(${SOURCE}/go.sum ${WORK}/go.sum COPYONLY)
  set(go_extra -modfile ${WORK}/go.mod)
endif()
