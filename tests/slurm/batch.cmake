# Programs without MPI under launchers of others: Slurm's srun, and those with PMI-1 and PMIx.
# Labels slurm, pmi1, pmix.
# SPDX-License-Identifier: BSD-3-Clause

if("none" IN_LIST ARMCI_CAN_CC)
  armci_suite(slurm SCRIPT ${here}/slurm/run.sh LABEL slurm TIMEOUT 200)
  armci_suite(slurm/hosts SCRIPT ${here}/slurm/hosts.sh LABEL slurm TIMEOUT 200)
  armci_suite(pmi1 SCRIPT ${here}/pmi1/run.sh LABEL pmi1 TIMEOUT 300)
  armci_suite(pmix SCRIPT ${here}/pmix/run.sh LABEL pmix TIMEOUT 200)
endif()
