// SPDX-License-Identifier: BSD-3-Clause

// Detects that a launcher has started several processes which do not find each
// other, and says what to do. Without this error every process would run as a
// job of one rank.

package bootstrap

import (
	"errors"
	"fmt"

	"libarmci/internal/config"
)

// ErrUnconnected is this error. It happens on all processes, none of which can reach the others.
var ErrUnconnected = errors.New("the processes of this job cannot find each other")

// several tells whether the launcher has started more than one process.
func several(launch config.Launch) bool { return launch.Size > 1 || launch.Rank > 0 }

// place is the launcher's number of this process, and how many there are.
func place(launch config.Launch) string {
	of := ""
	if launch.Size > 0 {
		of = fmt.Sprintf(" of %d", launch.Size)
	}
	return fmt.Sprintf("%s started this as process %d%s (%s is set)", launch.Name, launch.Rank, of, launch.By)
}

// notLinked is the error of a process without MPI; noPMI is why the launcher's own interface cannot be used, if it offers one.
func notLinked(launch config.Launch, noPMI error) error {
	n := "N"
	if launch.Size > 0 {
		n = fmt.Sprint(launch.Size)
	}
	why := "the program is not linked with MPI and the library of that MPI is not found: link it with MPI"
	switch {
	case noPMI != nil:
		why = fmt.Sprintf("%v, or link the program with MPI", noPMI)
	case launch.Name == "srun":
		why = "without PMI: use srun --mpi=pmi2 or --mpi=pmix (srun --mpi=list shows what there is)"
	}
	return fmt.Errorf("%w: %s, but %s, or start it with armcirun -n %s, or alone without that variable", ErrUnconnected,
		place(launch), why, n)
}

// unconnected returns an error if several processes were started but MPI's world has size 1: the program's MPI is not the
// launcher's, or the launcher does not support it.
func (m *mpiLibrary) unconnected(launch config.Launch) error {
	if launch.Name == "armcirun" || !several(launch) {
		return nil
	}
	_, size, err := m.rankSize(m.world())
	if err != nil || size > 1 {
		return err
	}
	remedy := "start it with the launcher of " + m.name() + ", or link it with the MPI of that launcher"
	if launch.Name == "srun" {
		remedy = "say srun --mpi=pmix or --mpi=pmi2, whichever this MPI was built for, or start it with the launcher of " + m.name()
	}
	return fmt.Errorf("%w: %s, but the %s that it uses knows no other process: %s", ErrUnconnected, place(launch), m.name(), remedy)
}
