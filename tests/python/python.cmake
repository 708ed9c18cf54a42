# The Python package, label python: programs of this directory under armcirun, Open MPI (with
# mpi4py) and MPICH. What they do is said in run.sh.
# SPDX-License-Identifier: BSD-3-Clause

foreach(flavour none openmpi mpich)
  if(NOT ARMCI_RUN_${flavour})
    armci_skip(python/${flavour} "no launcher of ${flavour}")
    continue()
  endif()
  armci_suite(python/${launcher_${flavour}} SCRIPT ${here}/python/run.sh LABEL python TIMEOUT 200
    ARGS ${flavour})
endforeach()
