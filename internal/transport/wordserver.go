// SPDX-License-Identifier: BSD-3-Clause

// Requests that C at an origin sends to the data server of another node, by messages of their own
// instead of frames.
package transport

import "encoding/binary"

// Kinds of core's active messages that C may send by its own messages: UnlockMessage unlocks a
// mutex, FragmentMessage carries a fragment of a two-sided message.
const (
	UnlockMessage   = 8
	FragmentMessage = 4
)

// FragmentHead is the length in bytes of the header in front of a fragment.
const FragmentHead = 16

// AppendFragmentHead appends that header to b: the tag of the message and its total length in
// bytes.
func AppendFragmentHead(b []byte, tag int64, total int) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(tag))
	return binary.LittleEndian.AppendUint64(b, uint64(total))
}

// WordServer is a target's Receiver that also serves the requests of C at the origin:
// read-modify-writes, accumulates, and the delivery of two-sided messages. The thread that polls
// the connection calls all methods, one at a time. rank is a rank of the server's node.
type WordServer interface {
	// ModifyWord carries out a read-modify-write and stores the old value in x.Old. It returns
	// false if the word is unchanged: the origin then sends the request by a frame.
	ModifyWord(rank Rank, x *RMW) bool
	// UnlockMutex unlocks the mutex at addr, which the origin holds.
	UnlockMutex(rank Rank, addr uintptr)
	// Accumulate adds the data of x to memory of rank. It returns false if the addresses are
	// refused: nothing is added, and the origin's next fence reports the error.
	Accumulate(rank Rank, x *Xfer, s Scale) bool
	// DeliverMessage passes a two-sided message to the mailbox of rank. With delivered false
	// the message is queued until the mailbox has room. An error ends the connection.
	DeliverMessage(rank Rank, tag int64, body []byte) (delivered bool, err error)
}
