// SPDX-License-Identifier: BSD-3-Clause

// Detects that a launcher has started several processes which do not find each
// other, and says what to do. Without this error every process would run as a
// job of one rank.

package bootstrap

import (
	"errors"
	"fmt"
	"time"

	"libarmci/internal/config"
)

// ErrUnconnected is this error. It happens on all processes, none of which can reach the others.
var ErrUnconnected = errors.New("the processes of this job cannot find each other")

// unconnectedTime is how long processes but the first leave it to print that: then most launchers
// have ended them.
const unconnectedTime = 2 * time.Second

// AwaitUnconnected returns when this process may print the error: at once in process 0.
func AwaitUnconnected(launch config.Launch) {
	if launch.Rank > 0 {
		time.Sleep(unconnectedTime)
	}
}

// several tells whether the launcher has started more than one process.
func several(launch config.Launch) bool { return launch.Size > 1 || launch.Rank > 0 }

// place is the launcher's number of this process, and how many there are.
func place(launch config.Launch) string {
	of := ""
	if launch.Size > 0 {
		of = fmt.Sprintf(" of %d", launch.Size)
	}
	return fmt.Sprintf("%s started this as process %d%s (%s is set)", launch.Name, launch.Rank,
		of, launch.By)
}

// notLinked is the error of a process without MPI; noPMI is why the launcher's own interface cannot
// be used, if it offers one.
func notLinked(launch config.Launch, noPMI error) error {
	n := "N"
	if launch.Size > 0 {
		n = fmt.Sprint(launch.Size)
	}
	why := "the program is not linked with MPI and the library of that MPI is not found: " +
		"link it with MPI"
	switch {
	case noPMI != nil:
		why = fmt.Sprintf("%v, or link the program with MPI", noPMI)
	case launch.Name == "srun":
		why = "without PMI: use srun --mpi=pmi2 or --mpi=pmix (srun --mpi=list shows " +
			"what there is)"
	}
	return fmt.Errorf("%w: %s, but %s, or start it with armcirun -n %s, or with "+
		"ARMCI_ALONE=y if each process is to be alone",
		ErrUnconnected, place(launch), why, n)
}

// unconnected returns an error if several processes were started but MPI's world has size 1: the
// program's MPI is not the launcher's, or the launcher does not support it. allowed: a job of
// armcirun may have an MPI of one process in each rank.
func (m *mpiLibrary) unconnected(launch config.Launch, allowed bool) error {
	if !several(launch) || allowed {
		return nil
	}
	_, size, err := m.rankSize(m.world())
	if err != nil || size > 1 {
		return err
	}
	return m.unconnectedError(launch)
}

func (m *mpiLibrary) unconnectedError(launch config.Launch) error {
	return fmt.Errorf("%w: %s, but the %s that it uses knows no other process: %s",
		ErrUnconnected, place(launch), m.name(),
		m.remedy(launch))
}

// startedApart returns that error at the end of a job of a launcher if the program has called
// MPI_Init behind ARMCI_Init.
func (m *mpiLibrary) startedApart(launch config.Launch) error {
	switch {
	case !several(launch) || !m.usable() || !m.initialised():
		return nil
	case m.finalized():
		// its size cannot be asked any more; the job was not MPI's
		return m.unconnectedError(launch)
	}
	return m.unconnected(launch, false)
}

// remedy says what to type instead.
func (m *mpiLibrary) remedy(launch config.Launch) string {
	switch launch.Name {
	case "armcirun":
		return fmt.Sprintf("a program that calls MPI_Init is started with the launcher "+
			"of %s: type %s -n %d where armcirun -n %d "+
			"was typed, or ARMCI_ALONE=y before it if MPI is to have one process in "+
			"each rank", m.name(), m.launcher(),
			launch.Size, launch.Size)
	case "srun":
		return "say srun --mpi=pmix or --mpi=pmi2, whichever this MPI was built for, or " +
			"start it with the launcher of " + m.name() +
			", or with ARMCI_ALONE=y if each process is to be alone"
	}
	return fmt.Sprintf("start it with the launcher of %s (%s), or link it with the MPI of "+
		"that launcher, or say ARMCI_ALONE=y if "+
		"each process is to be alone", m.name(), m.launcher())
}

// launcher is the command that starts programs of this MPI; where both are installed, Debian calls
// them mpirun.openmpi and mpiexec.mpich.
func (m *mpiLibrary) launcher() string {
	if m.isOpenMPI() {
		return "mpirun"
	}
	return "mpiexec"
}
