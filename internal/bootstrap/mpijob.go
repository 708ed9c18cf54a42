// SPDX-License-Identifier: BSD-3-Clause

// The job of an MPI program. One private duplicate of the communicator is for
// the library's exchanges and for creating groups; another is for the application.

package bootstrap

/*
#include "mpi_abi.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"time"
	"unsafe"

	"libarmci/internal/log"
)

const lengthBytes = 8 // of a length in the first half of Exchange

type mpiJob struct {
	mpi        *mpiLibrary
	rank, size int
	private    uintptr // of the library only
	handedOut  uintptr // what WorldComm returns
}

func newMPIJob(mpi *mpiLibrary, from uintptr) (Job, error) {
	j := &mpiJob{mpi: mpi}
	var err error
	if j.rank, j.size, err = mpi.rankSize(from); err != nil {
		return nil, err
	}
	if j.private, err = duplicate(from); err != nil {
		return nil, err
	}
	if j.handedOut, err = duplicate(from); err != nil {
		j.FreeComm(j.private)
		return nil, err
	}
	return j, nil
}

func duplicate(comm uintptr) (uintptr, error) {
	var made C.uintptr_t
	err := mpiError("MPI_Comm_dup", C.boot_mpi_dup(C.uintptr_t(comm), &made))
	return uintptr(made), err
}

func (j *mpiJob) Kind() string       { return "mpi (" + j.mpi.name() + ")" }
func (j *mpiJob) Rank() int          { return j.rank }
func (j *mpiJob) Size() int          { return j.size }
func (j *mpiJob) WorldComm() uintptr { return j.handedOut }

// Exchange gathers the lengths first, then the strings. Every rank sees the same
// lengths, so all agree when the sum is more than MPI's int can count.
func (j *mpiJob) Exchange(mine []byte) ([][]byte, error) {
	if !j.mpi.active() {
		return nil, fmt.Errorf("exchange: MPI is already finalized")
	}
	counts, at, total, err := j.gatherLengths(len(mine))
	if err != nil {
		return nil, err
	}
	all := make([]byte, total+1) // never empty, so that it has an address
	from := append(mine[:len(mine):len(mine)], 0)
	err = mpiError("MPI_Allgatherv", C.boot_mpi_allgatherv(unsafe.Pointer(&from[0]), C.int(len(mine)),
		unsafe.Pointer(&all[0]), &counts[0], &at[0], C.uintptr_t(j.private)))
	if err != nil {
		return nil, err
	}
	parts := make([][]byte, j.size)
	for r := range parts {
		end := at[r] + counts[r]
		parts[r] = all[at[r]:end:end]
	}
	return parts, nil
}

// gatherLengths returns the length of each rank's string, its offset in the
// concatenation, and the length of that.
func (j *mpiJob) gatherLengths(mine int) (counts, at []C.int, total int, err error) {
	length := binary.LittleEndian.AppendUint64(nil, uint64(mine))
	lengths := make([]byte, j.size*lengthBytes)
	err = mpiError("MPI_Allgather", C.boot_mpi_allgather(unsafe.Pointer(&length[0]), lengthBytes,
		unsafe.Pointer(&lengths[0]), C.uintptr_t(j.private)))
	if err != nil {
		return nil, nil, 0, err
	}
	counts, at = make([]C.int, j.size), make([]C.int, j.size)
	for r := range counts {
		n := binary.LittleEndian.Uint64(lengths[r*lengthBytes:])
		if n > math.MaxInt32 || total+int(n) > math.MaxInt32 {
			return nil, nil, 0, fmt.Errorf("exchange of more than %d bytes in all", math.MaxInt32)
		}
		counts[r], at[r] = C.int(n), C.int(total)
		total += int(n)
	}
	return counts, at, total, nil
}

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
			return 0, fmt.Errorf("group communicator: rank %d is outside 0..%d", r, j.size-1)
		}
		members[i] = C.int(r)
	}
	var made C.uintptr_t
	err := mpiError("MPI_Comm_create_group", C.boot_mpi_create_group(C.uintptr_t(j.private),
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
	j.FreeComm(j.handedOut)
	j.FreeComm(j.private)
	j.handedOut, j.private = 0, 0
	return nil
}
