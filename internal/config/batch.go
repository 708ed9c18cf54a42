// SPDX-License-Identifier: BSD-3-Clause

// What batch systems say of a job's hosts, in variables of their own (docs/batch.md). Package
// bootstrap/batch understands it.
package config

import (
	"fmt"
	"os"
	"slices"
)

// batchVariables are all that are read.
var batchVariables = []string{"SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE",
	"SLURM_JOB_CPUS_PER_NODE", "LSB_MCPU_HOSTS", "LSB_HOSTS",
	"PBS_NODEFILE", "PE_HOSTFILE"}

// Batch is the value of one of them; "" if it is not set.
func Batch(name string) string {
	if !slices.Contains(batchVariables, name) {
		panic(fmt.Sprintf("config: %s is no variable of a batch system", name))
	}
	return os.Getenv(name)
}
