// SPDX-License-Identifier: BSD-3-Clause

// What a job is to the library, and how the right kind is chosen. The kinds
// themselves are in mpi.go, armcirun.go and single.go.

package bootstrap

import (
	"errors"
	"fmt"

	"libarmci/internal/config"
)

// Job is the set of ranks this process was started with.
//
// Exchange and Close are collective over the job, GroupComm over its members.
// All methods but Die run on the calling thread, which under MPI must be the
// application's; Die may be called from any thread.
type Job interface {
	// Kind names what started the job: "mpi (Open MPI)", "mpi (MPICH)", "armcirun", "single".
	Kind() string
	Rank() int
	Size() int

	// Exchange gives every rank the byte strings of all, by rank. Lengths may differ.
	Exchange(mine []byte) ([][]byte, error)

	// WorldComm returns the MPI_Comm of the job that may be handed out, 0 if
	// there is none. The library's own traffic never uses it.
	WorldComm() uintptr
	// GroupComm makes an MPI_Comm of the listed ranks of the job, in that order;
	// collective over them only. Concurrent creations with common members need
	// different tags, of which the low 15 bits count. 0 if there is no MPI.
	GroupComm(ranks []int, tag int) (uintptr, error)
	// FreeComm frees a communicator of GroupComm, collectively; 0 is ignored.
	FreeComm(comm uintptr)

	// Abort ends every rank of the job and does not return. The exit status is
	// the low 8 bits of code, or 1 if they are zero.
	Abort(code int)
	// Die is Abort for any thread: it calls no MPI, but exits, which makes the launcher
	// end the others.
	Die(code int)

	// Close ends the use of the job. The launcher no longer expects anything.
	Close() error
}

// ErrNotLinked is the same mistake on all ranks of a launcher's, none of which can talk to the others.
var ErrNotLinked = errors.New("the program is not linked with MPI and its library is not found: " +
	"link it with MPI, or start it with armcirun")

// Start joins the job. comm is the communicator whose ranks become the job's,
// nil for the world of whatever launched this process. In this order:
//
//   - under armcirun, unless MPI is initialised with more than one rank: armcirun's job;
//   - MPI is in the process and initialised: comm;
//   - MPI is in the process and an MPI launcher started it: MPI_Init, then the world;
//   - nothing of that: a job of one rank.
func Start(s *config.Set, comm *uintptr) (Job, error) {
	mpi := findMPI()
	underArmcirun := s.IsSet("ARMCI_JOB_ADDR")
	if mpi.active() {
		job, err := startInitialised(mpi, comm, underArmcirun)
		if job != nil || err != nil {
			return job, err
		}
	}
	if underArmcirun {
		return startArmcirun(s)
	}
	if comm != nil {
		return nil, errors.New("a communicator was given, but MPI is not initialised")
	}
	return startUninitialised(mpi, s.Launcher())
}

// startInitialised serves a process in which MPI is running. It gives nothing,
// and no error, if MPI knows this process alone but armcirun started several.
func startInitialised(mpi *mpiLibrary, comm *uintptr, underArmcirun bool) (Job, error) {
	if !mpi.usable() {
		if underArmcirun {
			return nil, nil
		}
		return nil, mpi.unusable()
	}
	from := mpi.world()
	if comm != nil {
		from = *comm
	}
	if from == mpi.null() || from == 0 {
		return nil, errors.New("the communicator given is MPI_COMM_NULL")
	}
	_, size, err := mpi.rankSize(from)
	if err != nil {
		return nil, err
	}
	if underArmcirun && size == 1 {
		return nil, nil
	}
	return newMPIJob(mpi, from)
}

// startUninitialised serves a process in which MPI is absent, or not running.
func startUninitialised(mpi *mpiLibrary, launch config.Launch) (Job, error) {
	mpi.borrow(launch)
	switch {
	case launch.Name == "":
		return newSingleJob(), nil
	case mpi.present() && !mpi.finalized():
		if !mpi.usable() {
			return nil, mpi.unusable()
		}
		if err := mpi.initialise(nil, nil); err != nil {
			return nil, err
		}
		return newMPIJob(mpi, mpi.world())
	case launch.Size <= 1:
		return newSingleJob(), nil
	case mpi.present():
		return nil, errors.New("MPI is already finalized")
	}
	return nil, fmt.Errorf("%s started this as one of %d processes, but %w", launch.Name, launch.Size, ErrNotLinked)
}

// exitStatus is the status of a process that ends because of an error: never 0.
func exitStatus(code int) int {
	if status := code & 0xff; status != 0 {
		return status
	}
	return 1
}
