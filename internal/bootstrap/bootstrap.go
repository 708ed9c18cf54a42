// SPDX-License-Identifier: BSD-3-Clause

// The interface of a job, and the choice of its kind. The kinds are implemented
// in mpijob.go, armcirun.go, pmijob.go and single.go.

package bootstrap

import (
	"errors"

	"libarmci/internal/config"
)

// Job is the set of ranks this process was started with.
//
// Split, ExchangeLeaders, EndExchange and Close are collective over the job, GatherNode over the
// node, GroupComm over its members. All methods but Die run on the calling thread, which under MPI
// must be the application's; Die may be called from any thread.
//
// What all ranks must know of each other is exchanged in two levels, so that a large job
// exchanges a string per node, not per rank. Strings may differ in length.
type Job interface {
	// Kind names what started the job: "mpi (Open MPI)", "mpi (MPICH)", "mpi (MPICH, standard
	// ABI)", "armcirun", "srun (PMI-2)", "mpirun (PMIx)", "single".
	Kind() string
	Rank() int
	Size() int

	// Split finds the ranks of the caller's node: all that give the same key, of at most
	// 2 KiB. It returns the caller's number among them, which are counted by their ranks, and
	// how many they are. The first of them, number 0, is the node's leader. Split comes
	// before the next two methods; after another Split they are about its nodes.
	Split(key string) (local, size int, err error)
	// GatherNode returns the byte strings of all ranks of the node, by their numbers there.
	GatherNode(mine []byte) ([][]byte, error)
	// ExchangeLeaders returns, on every rank, the byte strings of the leaders of all nodes, in
	// the order of the leaders' ranks. What other ranks give is ignored.
	ExchangeLeaders(mine []byte) ([][]byte, error)
	// EndExchange releases what these need, until the next Split. Collective over the job.
	EndExchange()
	// WorldComm returns the MPI_Comm of the job for the application, 0 if there
	// is none. The library itself never uses it.
	WorldComm() uintptr
	// GroupComm creates an MPI_Comm of the listed ranks of the job, in that order;
	// collective over them only. Concurrent creations with common members need
	// different tags, of which the low 15 bits count. 0 if there is no MPI.
	GroupComm(ranks []int, tag int) (uintptr, error)
	// FreeComm frees a communicator of GroupComm, collectively; 0 is ignored.
	FreeComm(comm uintptr)

	// Abort ends every rank of the job and does not return. The exit status is
	// the low 8 bits of code, or 1 if they are zero.
	Abort(code int)
	// Die is Abort for any thread: it calls no MPI but exits, so that the launcher
	// ends the others.
	Die(code int)

	// Close ends the use of the job. The launcher no longer expects anything.
	Close() error
}

// LossWatcher is a Job that notices by connections of its own that a rank has ended.
type LossWatcher interface {
	// OnLoss has such losses reported by a function, so that one rank says why the job ends,
	// however many notice. It returns only if the job does not end because of the loss.
	OnLoss(report func(rank int, reason string))
}

// Start joins the job. comm is the communicator whose ranks become the job's,
// nil for all processes of the launcher. It tries in this order:
//
//   - under armcirun, unless MPI is initialised with more than one rank: armcirun's job; an error
//     if MPI is initialised in each of several ranks, alone;
//   - MPI is in the process and initialised: comm;
//   - MPI is in the process and an MPI launcher started it: MPI_Init, then the world;
//   - a launcher with PMI-1, PMI-2 or PMIx started it, without MPI: its job;
//   - nothing of that: a job of one rank, unless a launcher started several (unconnected.go).
func Start(s *config.Set, comm *uintptr) (Job, error) {
	mpi := findMPI()
	underArmcirun := s.IsSet("ARMCI_JOB_ADDR")
	if mpi.active() {
		job, err := startInitialised(s, mpi, comm)
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
	return startUninitialised(s, mpi)
}

// startInitialised is for a process in which MPI is running. It returns nil
// without an error if the job is armcirun's.
func startInitialised(s *config.Set, mpi *mpiLibrary, comm *uintptr) (Job, error) {
	launch := s.Launcher()
	underArmcirun := launch.Name == "armcirun"
	if !mpi.usable() {
		if underArmcirun && (!several(launch) || s.Bool("ARMCI_ALONE")) {
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
	if err := mpi.unconnected(launch, s.Bool("ARMCI_ALONE")); err != nil {
		return nil, err
	}
	if underArmcirun && size == 1 {
		return nil, nil
	}
	return newMPIJob(mpi, from)
}

// startUninitialised is for a process in which MPI is absent or not running.
func startUninitialised(s *config.Set, mpi *mpiLibrary) (Job, error) {
	launch := s.Launcher()
	var noPMI error
	// a size beside PMIX_RANK is not that of PMIx
	mayHavePeers := launch.Size != 1 || launch.By == "PMIX_RANK"
	if launch.PMI != "" && mayHavePeers && !mpi.present() && !mpi.loadLauncherMPI(launch) {
		job, err := startPMI(s, launch)
		if !errors.As(err, new(*noPMIError)) {
			return job, err
		}
		noPMI = err
		mpi.loadMPICHForPMI(launch)
	}
	mpi.loadLauncherMPI(launch)
	switch {
	case launch.Name == "":
		return newSingleJob(), nil
	case mpi.present() && !mpi.finalized():
		return startMPI(mpi, launch)
	case !several(launch) && noPMI == nil:
		return newSingleJob(), nil
	case mpi.present():
		return nil, errors.New("MPI is already finalized")
	}
	return nil, notLinked(launch, noPMI)
}

// startMPI initialises the MPI in the process.
func startMPI(mpi *mpiLibrary, launch config.Launch) (Job, error) {
	if !mpi.usable() {
		return nil, mpi.unusable()
	}
	if err := mpi.initialise(nil, nil); err != nil {
		return nil, err
	}
	if err := mpi.unconnected(launch, false); err != nil {
		return nil, err
	}
	return newMPIJob(mpi, mpi.world())
}

// Barrier waits until all ranks have called it, after Split.
func Barrier(j Job) error {
	if _, err := j.GatherNode(nil); err != nil {
		return err
	}
	_, err := j.ExchangeLeaders(nil)
	return err
}

// exitStatus is the status of a process that ends because of an error: never 0.
func exitStatus(code int) int {
	if status := code & 0xff; status != 0 {
		return status
	}
	return 1
}
