// SPDX-License-Identifier: BSD-3-Clause

// Which launcher has started this process, according to its variables. bootstrap
// decides what follows from it.

package config

import "os"

// Launch is what the environment tells about the launcher.
type Launch struct {
	// "armcirun", "mpirun", "mpiexec", "srun", "prterun" (any launcher that speaks PMIx alone),
	// or "" for none
	Name string
	By   string // the variable that tells the rank; "" for none
	Rank int    // -1 if not told
	Size int    // 0 if not told
	// Hydra: MPICH's process manager or one of its kin, which kills all ranks the moment one
	// has died.
	Hydra bool
	// OneHost: a launcher with PMI-1 or PMI-2 says that all ranks are on this host.
	OneHost bool
	// PMI is the interface by which the launcher lets ranks find each other without MPI:
	// "pmix", "pmi2", "pmi1", or "" for none.
	PMI string
	// PMIElse is the interface that is tried if the launcher does not answer to PMI, or the
	// library of that is missing; "" for none.
	PMIElse string
	// PMIAddress is where the launcher answers to PMI-1: the number of a descriptor (PMI_FD),
	// or host:port (PMI_PORT).
	PMIAddress string
	// PMIFirst: that comes before the launcher's MPI, which a program that is not linked with
	// it would load.
	PMIFirst bool
}

// addPMI sets PMI, PMIElse, PMIAddress and PMIFirst from the environment; ARMCI_PMI may choose one
// of the interfaces that are offered, or none.
//
// Every launcher that sets PMI_FD speaks PMI-1; a process asks for PMI-2 in words of PMI-1. So
// PMI-1 is first: a launcher without PMI-2 may end the job when it is asked for that. Slurm speaks
// both, but only the one that a process has asked for first, and PMI-2 is its own.
func (l *Launch) addPMI(env map[string]string) {
	chosen := env["ARMCI_PMI"]
	offered := func(name string, has bool) bool {
		return has &&
			(chosen == name || chosen == "" || chosen == "auto")
	}
	atDescriptor, atPort := env["PMI_FD"] != "", l.By == "PMI_ID"
	one := offered("pmi1", atDescriptor && l.By == "PMI_RANK" && l.Size > 0 || atPort)
	two := offered("pmi2", atDescriptor)
	switch {
	case offered("pmix", env["PMIX_RANK"] != "" && env["PMIX_NAMESPACE"] != ""):
		l.PMI = "pmix"
	case one && two && l.Name == "srun":
		l.PMI, l.PMIElse = "pmi2", "pmi1"
	case one && two:
		l.PMI, l.PMIElse = "pmi1", "pmi2"
	case one:
		l.PMI = "pmi1"
	case two:
		l.PMI = "pmi2"
	}
	if one && l.PMI != "pmix" {
		l.PMIAddress = env["PMI_FD"]
		if atPort {
			l.PMIAddress = env["PMI_PORT"]
		}
	}
	l.PMIFirst = l.PMI != "" && (l.Name == "srun" || l.Name == "prterun" || chosen == l.PMI)
}

// oneHost tells whether all ranks are on this host.
func oneHost(env map[string]string, size int) bool {
	here, _ := parseInt(env["MPI_LOCALNRANKS"])
	nodes, _ := parseInt(env["SLURM_STEP_NUM_NODES"])
	return size > 0 && int(here) == size || nodes == 1
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
// starts carries the variables of both. ARMCI_ALONE hides any other launcher.
func launcherOf(env map[string]string) Launch {
	l := startedBy(env)
	if alone, _ := parseBool(env["ARMCI_ALONE"]); alone != 0 && l.Name != "armcirun" {
		return Launch{Rank: -1}
	}
	if l.Name != "" && l.Name != "armcirun" {
		l.OneHost = oneHost(env, l.Size)
		l.addPMI(env)
	}
	return l
}

// startedBy recognises the launcher by its variables; the first of several counts.
func startedBy(env map[string]string) Launch {
	for _, l := range []struct{ name, rank, size string }{
		{"armcirun", "ARMCI_JOB_RANK", "ARMCI_JOB_SIZE"},
		{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
		{"mpiexec", "PMI_RANK", "PMI_SIZE"},
		{"mpirun_rsh", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
		{"mpiexec", "PMI_ID", ""},
		{"prterun", "PMIX_RANK", ""},
	} {
		if l.name == "armcirun" && env["ARMCI_JOB_ADDR"] == "" ||
			l.rank == "PMI_ID" && env["PMI_PORT"] == "" {
			continue
		}
		if rank, ok := parseInt(env[l.rank]); ok {
			size, _ := parseInt(env[l.size])
			hydra := l.name == "mpiexec" && env["MPI_LOCALNRANKS"] != ""
			if slurm := slurmOf(env); slurm.Rank == int(rank) && !hydra &&
				l.name != "armcirun" && l.name != "mpirun" {
				if size == 0 {
					size = int64(slurm.Size)
				}
				l.name = slurm.Name
			}
			return Launch{Name: l.name, By: l.rank, Rank: int(rank), Size: int(size),
				Hydra: hydra}
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
