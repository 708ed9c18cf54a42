// SPDX-License-Identifier: BSD-3-Clause

// The frames of simulated connections. A frame's kind and number say what its body has to be, so
// that a byte which is lost, doubled or in another place is found at the frame that has it.
package tcp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/simulate"
	"libarmci/internal/transport"
)

// simKind is a kind of frames. Those of a kind arrive in the order of their numbers.
type simKind byte

const (
	simRequest simKind = iota // of the origin; its head has the size of the reply
	simReply                  // of the thread that serves the connection
	simPost                   // of another thread of the server
	simKinds
)

const (
	simMaxBody  = 100 << 10
	simNoReply  = 1<<32 - 1
	simHeadSize = 9
)

// simContent is what bodies are parts of.
var simContent = func() []byte {
	b, r := make([]byte, 512<<10), rand.New(rand.NewPCG(1, 1))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}()

// simFrame is a frame of a connection.
type simFrame struct {
	kind   simKind
	number uint32
	reply  uint32 // bytes of the body of the reply, or simNoReply
}

// appendHead appends the head of the frame to b.
func (f simFrame) appendHead(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, byte(f.kind)), f.number)
	return binary.LittleEndian.AppendUint32(b, f.reply)
}

// body is the n bytes of the frame's body, where they are: contiguous, or in rows.
func (f simFrame) body(n int) (c kernel.Cursor) {
	at := (int(f.number)*7919 + int(f.kind)*104729 + n) % (len(simContent) - 2*simMaxBody)
	if rows := 1 + int(f.number%5); n > 0 && n%rows == 0 {
		return cursorOf(simContent[at:], n/rows, rows)
	}
	c.SetContiguous(addressOf(simContent[at:]), int64(n))
	return c
}

// bodySize draws the bytes of a body, which sockets take in not too many pieces.
func (c *simConn) bodySize() int {
	most := pick(0, 64, 64, 1<<10, 12<<10, simMaxBody)
	return simulate.IntN(min(most, 8*c.outage.settings[0], 8*c.outage.settings[1]) + 1)
}

// simReceiver is the Receiver of one end, which checks each frame.
type simReceiver struct {
	conn     *simConn
	received [simKinds]uint32 // frames of each kind
	frame    simFrame
	got      []byte
	want     []byte
	into     kernel.Cursor
}

// BeginFrame checks that the frame is the next one of its kind.
func (r *simReceiver) BeginFrame(head []byte, n int64) (transport.Body, error) {
	if len(head) != simHeadSize || head[0] >= byte(simKinds) || n > simMaxBody {
		return transport.Body{}, fmt.Errorf("a frame with the head %x and %d bytes",
			head, n)
	}
	r.frame = simFrame{simKind(head[0]), binary.LittleEndian.Uint32(head[1:]),
		binary.LittleEndian.Uint32(head[5:])}
	if next := r.received[r.frame.kind]; r.frame.number != next {
		return transport.Body{}, fmt.Errorf("frame %d of kind %d, expected %d",
			r.frame.number, r.frame.kind, next)
	}
	r.got = slices.Grow(r.got[:0], int(n))[:n]
	r.into.SetContiguous(addressOf(r.got), n)
	return transport.Body{Into: &r.into}, nil
}

func (r *simReceiver) Data([]byte) error { return nil }

// EndFrame checks the body, and replies to a request.
func (r *simReceiver) EndFrame() error {
	f := r.frame
	r.want = slices.Grow(r.want[:0], len(r.got))[:len(r.got)]
	body := f.body(len(r.got))
	if body.Pack(r.want); !bytes.Equal(r.got, r.want) {
		return fmt.Errorf("frame %d of kind %d has other bytes", f.number, f.kind)
	}
	r.received[f.kind]++
	if f.kind == simRequest && f.reply != simNoReply {
		r.conn.sendReply(int(f.reply))
	}
	return nil
}

func (r *simReceiver) Sent() {}

func (r *simReceiver) ExpectsBulk() bool { return simulate.Chance(4) }

func (r *simReceiver) Finished() bool { return false }

func (r *simReceiver) Lost(err error) { simulate.Fail("lost: %v", err) }
