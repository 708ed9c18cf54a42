// SPDX-License-Identifier: BSD-3-Clause

// The job of an MPI program. One private duplicate of the communicator is for
// the library's exchanges and for creating groups; another is for the application.

package bootstrap

/*
#include "mpi_abi.h"
*/
import "C"

import (
	"fmt"
	"os"
	"time"

	"libarmci/internal/log"
)

// mpiJob is the Job of the ranks of an MPI communicator.
type mpiJob struct {
	mpi         *mpiLibrary
	rank, size  int
	libraryComm uintptr // of the library only
	appComm     uintptr // what WorldComm returns
	node        mpiNode
}

// newMPIJob makes the job of a communicator, collectively over it.
func newMPIJob(mpi *mpiLibrary, from uintptr) (Job, error) {
	j := &mpiJob{mpi: mpi}
	var err error
	if j.rank, j.size, err = mpi.rankSize(from); err != nil {
		return nil, err
	}
	if j.libraryComm, err = duplicate(from); err != nil {
		return nil, err
	}
	if j.appComm, err = duplicate(from); err != nil {
		j.FreeComm(j.libraryComm)
		return nil, err
	}
	return j, nil
}

func duplicate(comm uintptr) (uintptr, error) {
	var made C.uintptr_t
	err := mpiError("MPI_Comm_dup", C.boot_mpi_dup(C.uintptr_t(comm), &made))
	return uintptr(made), err
}

func (j *mpiJob) Kind() string       { return "mpi (" + j.mpi.kind() + ")" }
func (j *mpiJob) Rank() int          { return j.rank }
func (j *mpiJob) Size() int          { return j.size }
func (j *mpiJob) WorldComm() uintptr { return j.appComm }

// GroupComm creates a communicator of the listed ranks, by MPI_Comm_create_group.
func (j *mpiJob) GroupComm(ranks []int, tag int) (uintptr, error) {
	if !j.mpi.active() {
		return 0, fmt.Errorf("group communicator: MPI is already finalized")
	}
	if len(ranks) == 0 {
		return 0, fmt.Errorf("group communicator of no rank")
	}
	members := make([]C.int, len(ranks))
	for i, r := range ranks {
		if r < 0 || r >= j.size {
			return 0, fmt.Errorf("group communicator: rank %d is outside 0..%d", r,
				j.size-1)
		}
		members[i] = C.int(r)
	}
	var made C.uintptr_t
	err := mpiError("MPI_Comm_create_group", C.boot_mpi_create_group(C.uintptr_t(j.libraryComm),
		&members[0], C.int(len(members)), C.int(tag&0x7fff), &made))
	return uintptr(made), err
}

func (j *mpiJob) FreeComm(comm uintptr) {
	if comm != 0 && comm != j.mpi.null() && j.mpi.active() {
		C.boot_mpi_free(C.uintptr_t(comm))
	}
}

// lastWords is how long to wait until the launcher has read what was printed:
// MPICH's drops unread output when a rank aborts the job.
const lastWords = 2 * time.Second

func (j *mpiJob) Abort(code int) {
	log.AwaitReader(lastWords)
	if j.mpi.active() {
		C.boot_mpi_abort(C.int(exitStatus(code)))
	}
	os.Exit(exitStatus(code))
}

// headStart is how long to wait so that the launcher notices the rank that ended
// first, whose status becomes the job's.
const headStart = 20 * time.Millisecond

func (j *mpiJob) Die(code int) {
	log.AwaitReader(lastWords)
	time.Sleep(headStart)
	os.Exit(exitStatus(code))
}

func (j *mpiJob) Close() error {
	j.EndExchange()
	j.FreeComm(j.appComm)
	j.FreeComm(j.libraryComm)
	j.appComm, j.libraryComm = 0, 0
	return nil
}
