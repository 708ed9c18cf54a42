// SPDX-License-Identifier: BSD-3-Clause

// What C at an origin asks the data server of another node for, by messages of its own instead of
// frames.
package transport

import "encoding/binary"

// Kinds of core's messages that C may send in its own way: one unlocks a mutex, the other is a
// fragment of a two-sided message.
const (
	UnlockMessage   = 8
	FragmentMessage = 4
)

// FragmentHead is the number of bytes in front of a fragment.
const FragmentHead = 16

// AppendFragmentHead appends them: the tag of a message, and how many bytes the whole of it has.
func AppendFragmentHead(b []byte, tag int64, total int) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(tag))
	return binary.LittleEndian.AppendUint64(b, uint64(total))
}

// WordServer is a Receiver of a target that C asks for read-modify-writes, accumulates, and the
// delivery of two-sided messages.
type WordServer interface {
	// Change carries one out at a rank of the node; false: the word is as it was, and the
	// origin asks by a frame.
	Change(rank Rank, x *RMW) bool
	// Unlock unlocks a mutex at an address, which the origin holds.
	Unlock(rank Rank, addr uintptr)
	// Accumulate does so, or refuses it, of which the origin's next fence tells, and returns
	// false.
	Accumulate(rank Rank, x *Xfer, s Scale) bool
	// Deliver delivers a two-sided message; false: it waits for room.
	Deliver(rank Rank, tag int64, body []byte) (delivered bool, err error)
}
