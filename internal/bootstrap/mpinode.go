// SPDX-License-Identifier: BSD-3-Clause

// The nodes of an MPI job, and the exchange between them: a communicator of the ranks of each node,
// and one of the leaders.

package bootstrap

/*
#include "mpi_abi.h"
*/
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"unsafe"

	"libarmci/internal/bootstrap/jobwire"
)

// mpiNode is what Split has made.
type mpiNode struct {
	comm        uintptr // of the node
	leaders     uintptr // of the leaders, on leaders only
	local, size int
	nodes       int // how many, on leaders only
}

var errFinalized = errors.New("exchange: MPI is already finalized")

// Split divides by a hash of the key first, then, if two nodes have the same hash, by the keys
// themselves.
func (j *mpiJob) Split(key string) (local, size int, err error) {
	if !j.mpi.active() {
		return 0, 0, errFinalized
	}
	j.EndExchange()
	n := &j.node
	if n.comm, err = splitComm(j.libraryComm, hashOf(key), j.rank); err == nil {
		if n.local, n.size, err = j.mpi.rankSize(n.comm); err == nil {
			err = j.splitByKey(key)
		}
	}
	if err != nil {
		return 0, 0, err
	}
	color := 0 // of leaders
	if n.local != 0 {
		color = 1
	}
	if n.leaders, err = splitComm(j.libraryComm, color, j.rank); err != nil {
		return 0, 0, err
	}
	if n.local != 0 {
		j.FreeComm(n.leaders)
		n.leaders = 0
		return n.local, n.size, nil
	}
	_, n.nodes, err = j.mpi.rankSize(n.leaders)
	return n.local, n.size, err
}

// hashOf is a color for MPI, which may not be negative.
func hashOf(key string) int {
	h := fnv.New32a()
	h.Write([]byte(key))
	return int(h.Sum32() & math.MaxInt32)
}

// splitByKey separates ranks of different keys that have the same hash.
func (j *mpiJob) splitByKey(key string) error {
	n := &j.node
	keys, err := gather(n.comm, n.size, []byte(key))
	if err != nil {
		return err
	}
	first, differ := firstOf(keys, n.local)
	if !differ {
		return nil
	}
	mixed := n.comm
	n.comm, err = splitComm(mixed, first, n.local)
	j.FreeComm(mixed)
	if err == nil {
		n.local, n.size, err = j.mpi.rankSize(n.comm)
	}
	return err
}

// firstOf is the first of several keys that is the same as the one at an index, and whether not all
// of them are the same.
func firstOf(keys [][]byte, at int) (first int, differ bool) {
	same := func(a []byte) func(
		[]byte) bool {
		return func(b []byte) bool { return string(a) == string(b) }
	}
	other := func(b []byte) bool { return string(b) != string(keys[0]) }
	return slices.IndexFunc(keys, same(keys[at])), slices.ContainsFunc(keys, other)
}

func splitComm(comm uintptr, color, key int) (uintptr, error) {
	var made C.uintptr_t
	err := mpiError("MPI_Comm_split", C.boot_mpi_split(C.uintptr_t(comm), C.int(color),
		C.int(key), &made))
	return uintptr(made), err
}

// EndExchange frees the communicators.
func (j *mpiJob) EndExchange() {
	j.FreeComm(j.node.comm)
	j.FreeComm(j.node.leaders)
	j.node = mpiNode{}
}

func (j *mpiJob) GatherNode(mine []byte) ([][]byte, error) {
	if !j.mpi.active() {
		return nil, errFinalized
	}
	return gather(j.node.comm, j.node.size, mine)
}

// ExchangeLeaders gathers among the leaders, each of which sends the result, or why there is none,
// to its node.
func (j *mpiJob) ExchangeLeaders(mine []byte) (parts [][]byte, err error) {
	if !j.mpi.active() {
		return nil, errFinalized
	}
	var payload []byte
	n := &j.node
	if n.local == 0 {
		if parts, err = gather(n.leaders, n.nodes, mine); err == nil && n.size > 1 {
			payload, err = jobwire.PackList(parts)
		}
		payload = append([]byte{0}, payload...)
		if err != nil {
			payload = append([]byte{1}, err.Error()...)
		}
	}
	if n.size > 1 {
		var lost error
		if payload, lost = fromFirst(n.comm, payload); lost != nil {
			return nil, lost
		}
	}
	switch {
	case n.local == 0:
		return parts, err
	case len(payload) == 0 || payload[0] != 0:
		return nil, errors.New(string(payload[min(1, len(payload)):]))
	}
	return jobwire.UnpackList(payload[1:])
}

// fromFirst returns what the first rank of a communicator has.
func fromFirst(comm uintptr, payload []byte) ([]byte, error) {
	length := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	if err := bcast(comm, length); err != nil {
		return nil, err
	}
	if n := binary.LittleEndian.Uint32(length); int(n) != len(payload) {
		payload = make([]byte, n)
	}
	return payload, bcast(comm, payload)
}

func bcast(comm uintptr, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	return mpiError("MPI_Bcast", C.boot_mpi_bcast(unsafe.Pointer(&b[0]), C.int(len(b)),
		C.uintptr_t(comm)))
}

const lengthBytes = 8 // of a length in the first half of gather

// gather returns the strings of all ranks of a communicator: their lengths first. Every rank sees
// the same lengths, so all agree when they are too long.
func gather(comm uintptr, size int, mine []byte) ([][]byte, error) {
	counts, at, total, err := gatherLengths(comm, size, len(mine))
	if err != nil {
		return nil, err
	}
	all := make([]byte, total+1) // never empty, so that it has an address
	from := append(mine[:len(mine):len(mine)], 0)
	err = mpiError("MPI_Allgatherv", C.boot_mpi_allgatherv(unsafe.Pointer(&from[0]),
		C.int(len(mine)),
		unsafe.Pointer(&all[0]), &counts[0], &at[0], C.uintptr_t(comm)))
	if err != nil {
		return nil, err
	}
	parts := make([][]byte, size)
	for r := range parts {
		end := at[r] + counts[r]
		parts[r] = all[at[r]:end:end]
	}
	return parts, nil
}

// gatherLengths returns the length of each rank's string, its offset in the
// concatenation, and the length of that.
func gatherLengths(comm uintptr, size, mine int) (counts, at []C.int, total int, err error) {
	length := binary.LittleEndian.AppendUint64(nil, uint64(mine))
	lengths := make([]byte, size*lengthBytes)
	err = mpiError("MPI_Allgather", C.boot_mpi_allgather(unsafe.Pointer(&length[0]),
		lengthBytes,
		unsafe.Pointer(&lengths[0]), C.uintptr_t(comm)))
	if err != nil {
		return nil, nil, 0, err
	}
	counts, at = make([]C.int, size), make([]C.int, size)
	for r := range counts {
		n := binary.LittleEndian.Uint64(lengths[r*lengthBytes:])
		if n > jobwire.MaxCollected || total+int(n) > jobwire.MaxCollected {
			return nil, nil, 0, fmt.Errorf("exchange: %w", jobwire.ErrTooLarge)
		}
		counts[r], at[r] = C.int(n), C.int(total)
		total += int(n)
	}
	return counts, at, total, nil
}
