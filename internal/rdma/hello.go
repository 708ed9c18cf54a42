// SPDX-License-Identifier: BSD-3-Clause

// What this fabric adds to a hello: the queue pair, and where the answer is to go. Fixed sizes.
package rdma

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"libarmci/internal/rdma/lab"
	"libarmci/internal/rdma/verbs"
)

// address is where a process receives datagrams. It is published.
type address struct {
	Pair uint32
	LID  uint16
	MTU  uint8
	_    uint8
	GID  [16]byte // zero: by LID
}

// extra is the fabric's part of a hello.
type extra struct {
	Pair  uint32 // queue pair to connect to
	PSN   uint32 // of its first packet
	Reads uint8  // that it lets the other end have outstanding
	MTU   uint8
	// Of an origin: which of the lab's protocols it uses, where the answer is to go.
	UsesSlots, UsesLocks bool
	Back                 address
	Places               lab.Places // of a target: what these protocols need
}

// encode writes an address or an extra.
func encode(x any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, x)
	if err != nil {
		panic(err) // it has no fixed size
	}
	return b
}

// decode reads what encode wrote.
func decode(b []byte, x any) error {
	if len(b) != binary.Size(x) {
		return fmt.Errorf("%d bytes instead of %d", len(b), binary.Size(x))
	}
	_, err := binary.Decode(b, binary.LittleEndian, x)
	return err
}

// link is what both ends of a connection set their queue pairs to: mine is what this end said, its what the other did.
func (f *Fabric) link(mine, its *extra, at *address) *verbs.Link {
	l := f.base.Limits
	return &verbs.Link{Path: *f.base.Path(at.LID, at.GID), Pair: its.Pair, MTU: min(mine.MTU, its.MTU), MyPSN: mine.PSN, PSN: its.PSN,
		ReadsOut: uint8(min(l.ReadsOut, int(its.Reads))), ReadsIn: mine.Reads, Timeout: retryExponent(f.cfg.Timeout),
		Atomics: l.Atomic != 0}
}

// extra is what this end says of a queue pair.
func (f *Fabric) extra(pair *verbs.Pair) extra {
	return extra{Pair: pair.Number, PSN: rand.Uint32() & 0xffffff, MTU: f.base.State.MTU,
		Reads: uint8(min(f.base.Limits.ReadsIn, 16))}
}

// retryExponent is the device's timeout, 4.096 us * 2^e, so that all retries together, of which a device may take
// four times as long as it is told, end within the time after which a host is given up.
func retryExponent(limit time.Duration) uint8 {
	e := uint8(12)
	for e < 18 && 8*4*(4096*time.Nanosecond<<(e+1)) <= limit {
		e++
	}
	return e
}
