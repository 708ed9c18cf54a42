// SPDX-License-Identifier: BSD-3-Clause

// Bodies in several frames in the fabric suite: parts of an answer that a target's end sends one
// after the other, and cursors that are the body of many frames.
package transporttest

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// fabricParts shows that a target's end may send a long answer in several frames, each when the one
// before has left (Sent). BeginFrame of the next frame is not called before that. The origin stores
// all parts by one cursor.
func fabricParts(t *testing.T, d transport.Driver) {
	const parts, rounds = 5, 20
	j := newFabricJob(t, d, 2)
	part := 20000
	j.onAccept = func(e *fabricEnd) error {
		part, left := min(part, e.ep.MaxFrame()-9), 0
		if part < 0 {
			part = 20000
		}
		e.onFrame = func(f *frame) error {
			if f.head[0] == headEcho {
				left = parts
				return e.sendPart(&left, part)
			}
			return e.recordFrame(f)
		}
		return nil
	}
	j.openAll()
	o, target := j.connectPair()
	part = min(part, target.maxBody(9))
	var into kernel.Cursor
	o.bodyFor = func(head []byte, _ int64) transport.Body {
		if head[0] == headReply || head[0] == headPosted {
			return transport.Body{Into: &into}
		}
		return transport.Body{}
	}
	for round := range rounds {
		got := make([]byte, parts*part)
		o.configure(func() { into = cursorOf(got) })
		o.sendBytes(numberedHead(headEcho, 0, round), nil, transport.Now)
		o.sendBytes(numberedHead(headKeep, 0, round), nil, transport.Now)
		o.takeFrames(parts)
		for i := range parts {
			if k := firstDifference(got[i*part:(i+1)*part], noise(i, part)); k >= 0 {
				t.Fatalf("round %d: byte %d of part %d differs", round, k, i)
			}
		}
	}
	target.waitUntil("all parts have left", func() bool {
		return target.sentCalls == parts*rounds
	})
}

// sendPart sends the next part of an answer of n bytes each. Sent calls it for the one after.
func (e *fabricEnd) sendPart(left *int, n int) error {
	*left--
	head := []byte{headPosted}
	if *left == 0 {
		head[0] = headReply
	}
	e.echoBody = bytes.Clone(noise(4-*left, n))
	if *left > 0 {
		e.afterSent = func() { e.sendPart(left, n) }
	}
	c := cursorOf(e.echoBody)
	_, err := e.ep.Send(head, &c, c.Left(), transport.Now)
	return err
}

// fabricCursor shows that one cursor can be the body of many frames, at both ends.
func fabricCursor(t *testing.T, d transport.Driver) {
	j := openFabrics(t, d, 2)
	o, target := j.connectPair()
	r := rand.New(rand.NewPCG(12, 0))
	copy(unsafe.Slice((*byte)(kernel.Ptr(j.procs[0].arenaMem)), fabricMemBytes), noise(12,
		fabricMemBytes))
	for range 30 {
		from := randomCursor(r, j.procs[0].arenaMem, 1<<20, 1)
		want, into := packCursor(from), make([]byte, from.Left())
		to := cursorOf(into)
		target.configure(func() {
			target.bodyFor = func([]byte, int64) transport.Body {
				return transport.Body{Into: &to}
			}
		})
		frames := 0
		for ; from.Left() > 0; frames++ {
			left, n := from.Left(), min(1+r.Int64N(from.Left()), int64(o.maxBody(1)))
			if err := o.sendPartially([]byte{headKeep}, &from, n,
				transport.Now); err != nil {
				t.Fatal(err)
			}
			if from.Left() != left-n {
				t.Fatalf("after %d of %d bytes, %d are left", n, left, from.Left())
			}
		}
		if target.takeFrames(frames); !bytes.Equal(into, want) {
			t.Fatalf("byte %d differs after %d frames", firstDifference(into, want),
				frames)
		}
	}
}
