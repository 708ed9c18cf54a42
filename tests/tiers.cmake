# Which tests `make check` runs (label check: everything once, in about 20 minutes on two
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
  "^softverbs/((transport|programs|hosts)/|(nth|nth/[a-z]*|outage)$)"
  "^vm/" "^ofi/"
  "^rma/.*/(more|few|slow|owner)$" "^rma/(model|fault|hosts|softverbs)/" "^(rma|caf|shmem)/nth"
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
# Of the full ones these repeat, under another launcher, in another shape, on another processor or
# network, what others show, or take minutes. With TEST_PART=0 to 3 a run takes a quarter of them
# and all others, as continuous integration does by turns; without it, all.
set(part0
  "^(hosts|fault|caf/fault|caf/hosts)/mpich" "^hosts/mpich/"
  "^softverbs/transport/(late|limits|many)$" "^vm/rdma/(2x1|fault|outage)$"
  "^fault/nth/node/leader")
set(part1
  "^nwchem$" "^aarch64$" "^ofi/tcp/" "^softverbs/programs/(late|without_fast_path)$"
  "^nodes/(mpich|openmpi)/" "^rma/(softverbs|hosts|fault|model)/mpich" "^vm/rdma/(4x1|transport)$"
  "^caf/[a-z]*/2x2/more$" "^fault/nth/node/member")
set(part2
  "^(ppc64le|riscv64)$" "^ofi/shm/" "^softverbs/transport/(infiniband|on_demand)$"
  "^softverbs/(nth/system|programs/(2x2|bounded))$" "^(hosts|fault)/openmpi/fa"
  "^vm/rdma/(openmpi/2x2|perf)$" "^rma/[a-z]*/[124]x[14]/few$")
set(part3
  "^package$" "^ofi/udp/" "^ga/(mpich|openmpi/more)$" "^rma/[a-z]*/2x2/more$"
  "^(rma|caf|shmem)/nth" "^softverbs/(nth/malloc|programs/limits)$" "^vm/rdma/locked$")
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
    foreach(part part0 part1 part2 part3)
      tier_matches(${name} ${part} is_part)
      if(is_part)
        list(APPEND labels ${part})
        break()
      endif()
    endforeach()
  else()
    list(APPEND labels check)
  endif()
  if(is_quick)
    list(APPEND labels quick)
  endif()
  list(REMOVE_ITEM labels NOTFOUND)
  set_tests_properties(${name} PROPERTIES LABELS "${labels}")
endforeach()
