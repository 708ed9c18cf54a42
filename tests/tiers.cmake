# Which tests `make check` runs (label check: everything once, in about 18 minutes on two
# processors), which only `make check-all` (label full: other numbers of ranks, shapes and
# launchers, and all that takes long), and which `make quick` (label quick). A test has one of the
# labels check and full; one that no line here names has check.
# SPDX-License-Identifier: BSD-3-Clause

# Patterns of names: these tests are full,
set(full
  "^nwchem$" "^package$" "^(aarch64|ppc64le|riscv64)$" "^unit/(litmus/weaken|settings)$"
  "^unit/(simulate|faults)$"
  "^c/.*/(single|armcirun)/n[1359]/"
  "^c/model_long/" "^c/idle/"
  "^fortran/.*/n1/" "^fortran/(atomics|calls|scopes|vectors)/(openmpi|mpich)/"
  "^ga/" "^abi/standard/more$"
  "^fault/"
  "^(nodes|hosts)/"
  "^softverbs/(transport|programs|hosts)/"
  "^vm/" "^ofi/"
  "^rma/.*/(more|few|slow|owner)$" "^rma/(model|fault|hosts|softverbs)/"
  "^caf/.*/(more|few|slow)$" "^caf/(fault|stop|hosts|softverbs)/"
  "^shmem/.*/(more|slow)$" "^shmem/(hosts|softverbs/2x1)"
  "^perf/(nodes|papers)$")
# but these of them are check: programs for one rank, a Global Arrays run, each launcher within and
# between hosts, the faults that happen most, one boot of the virtual machine.
set(check
  "^c/(stride_iterator|read_write_strided|init)/single/" "^c/idle/(armcirun|openmpi)/n2/"
  "^ga/openmpi$"
  "^fault/[a-z]*/(kill|leave)$" "^fault/armcirun/(signal|exits|receive|sent)$" "^fault/mpich/nodes$"
  "^fault/(crash|leaks|messages|mistakes|strangers)$"
  "^nodes/(armcirun/2x2/c|unbuilt)$" "^hosts/armcirun/2x1/c$" "^hosts/[a-z]*/2x1/fortran$"
  "^softverbs/programs/device_acc$" "^softverbs/transport/strangers$" "^vm/check$"
  "^ofi/shm/2x2/few$" "^ofi/tcp/4x1/few$"
  "^caf/(fault|stop)/armcirun$")
set(quick "^c/[a-z_]*/armcirun/n2/fast$")

# tier_matches(<name> <list of patterns> <result>)
function(tier_matches name patterns result)
  set(${result} FALSE PARENT_SCOPE)
  foreach(pattern IN LISTS ${patterns})
    if(name MATCHES "${pattern}")
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

get_property(names DIRECTORY PROPERTY TESTS)
foreach(name IN LISTS names)
  get_test_property(${name} LABELS labels)
  tier_matches(${name} full is_full)
  tier_matches(${name} check is_check)
  tier_matches(${name} quick is_quick)
  if(is_full AND NOT is_check)
    list(APPEND labels full)
  else()
    list(APPEND labels check)
  endif()
  if(is_quick)
    list(APPEND labels quick)
  endif()
  list(REMOVE_ITEM labels NOTFOUND)
  set_tests_properties(${name} PROPERTIES LABELS "${labels}")
endforeach()
