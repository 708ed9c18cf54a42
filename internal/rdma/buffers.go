// SPDX-License-Identifier: BSD-3-Clause

// How many buffers a process has, and how large they are: that depends on the memory it may pin for them, not on the size of
// the job.
package rdma

import (
	"unsafe"

	"libarmci/internal/pin"
	"libarmci/internal/rdma/verbs"
)

const (
	none      = pin.None
	pageBytes = 4096
)

// Shares of the memory for buffers.
const (
	originShare = 1 // for answers, and for what is sent
	comingShare = 4 // for what all origins send to a server
	answerShare = 1
	slotShare   = 1 // for the eager ring, which only who forces that protocol pays
	allShares   = 2*originShare + comingShare + answerShare + slotShare
)

// Sizes of a buffer, and so of a message: the larger, the fewer messages a transfer takes, and the fewer buffers there are.
const (
	leastBytes = 16 << 10
	mostBytes  = 64 << 10
	enough     = 16 // buffers of a share, before they are made larger
)

// bufferBytes is the size of the buffers that so much memory is divided into.
func bufferBytes(memory int64) int {
	size := mostBytes
	for size > leastBytes && memory/allShares/int64(size) < enough {
		size /= 2
	}
	return size
}

// buffers is how many of them so many shares are.
func (f *Fabric) buffers(shares int) int { return shares * int(f.cfg.Buffer/allShares) / f.size }

// data is n bytes of a buffer from an offset on.
func data(p *pin.Pool, b int32, off, n int) verbs.Data {
	return verbs.Data{Addr: uint64(p.Addr(b)) + uint64(off), Bytes: uint32(n), Key: localKey(p.Key)}
}

func addrOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
