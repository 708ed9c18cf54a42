// SPDX-License-Identifier: BSD-3-Clause

// Which launcher has started this process, according to its variables. bootstrap
// decides what follows from it.

package config

import "os"

// Launch is what the environment tells about the launcher.
type Launch struct {
	Name string // "armcirun", "mpirun", "mpiexec", "srun", or "" for none
	By   string // the variable that tells the rank; "" for none
	Rank int    // -1 if not told
	Size int    // 0 if not told
	// Hydra: MPICH's process manager or one of its kin, which kills all ranks the moment one has died.
	Hydra bool
}

// Launcher looks at the environment of the process as it was when Go started.
func Launcher() Launch {
	return launcherOf(environMap(os.Environ()))
}

// Launcher looks at the environment the set was loaded from.
func (s *Set) Launcher() Launch {
	return launcherOf(s.env)
}

// launcherOf prefers armcirun: a job of its own that a rank of an MPI job
// starts carries the variables of both.
func launcherOf(env map[string]string) Launch {
	for _, l := range []struct{ name, rank, size string }{
		{"armcirun", "ARMCI_JOB_RANK", "ARMCI_JOB_SIZE"},
		{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
		{"mpiexec", "PMI_RANK", "PMI_SIZE"},
		{"mpiexec", "PMIX_RANK", ""},
	} {
		if l.name == "armcirun" && env["ARMCI_JOB_ADDR"] == "" {
			continue
		}
		if rank, ok := parseInt(env[l.rank]); ok {
			size, _ := parseInt(env[l.size])
			hydra := l.rank == "PMI_RANK" && env["MPI_LOCALNRANKS"] != ""
			if slurm := slurmOf(env); size == 0 && slurm.Rank == int(rank) {
				size = int64(slurm.Size)
			}
			return Launch{l.name, l.rank, int(rank), int(size), hydra}
		}
	}
	return slurmOf(env)
}

// slurmOf looks for a task of Slurm's srun. A batch script, which sbatch starts
// once, has a task number and a number of tasks too, but belongs to no step.
func slurmOf(env map[string]string) Launch {
	const by = "SLURM_PROCID"
	rank, ok := parseInt(env[by])
	size, inStep := parseInt(env["SLURM_STEP_NUM_TASKS"])
	if !inStep {
		size, _ = parseInt(env["SLURM_NTASKS"])
	}
	if !ok || rank == 0 && !inStep && env["ENVIRONMENT"] == "BATCH" {
		return Launch{Rank: -1}
	}
	return Launch{Name: "srun", By: by, Rank: int(rank), Size: int(size)}
}
