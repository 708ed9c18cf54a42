// SPDX-License-Identifier: BSD-3-Clause

// Nodes that answer what was not asked, or not as they should: the operation fails, the loss is
// reported with the reason, and only the operation's memory is written.
package internode

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// wrongAnswer is a frame of a node's answer. Its id is that of the request if it is 1.
type wrongAnswer struct {
	h    header
	body []byte
}

// TestWrongAnswers shows that an answer that was not asked for, or is malformed, ends the
// connection with a loss, and that the operation fails.
func TestWrongAnswers(t *testing.T) {
	data := func(n int) wrongAnswer {
		return wrongAnswer{header{kind: kindData, id: 1, bytes: uint64(n)},
			bytes.Repeat([]byte{7}, n)}
	}
	part := func(at, n, all int) wrongAnswer {
		return wrongAnswer{header{kind: kindReply, id: 1, addr: uint64(at),
			arg:   uint64(all),
			bytes: uint64(n)}, make([]byte, n)}
	}
	for name, c := range map[string]struct {
		call bool // else a get of 100 bytes
		lies []wrongAnswer
	}{
		"of another kind": {false, []wrongAnswer{{header{kind: kindOld, id: 1}, nil}}},
		"to nothing": {false,
			[]wrongAnswer{{header{kind: kindData, id: 1 << 40, bytes: 8},
				make([]byte, 8)}}},
		"without a number": {false,
			[]wrongAnswer{{header{kind: kindData, bytes: 8}, make([]byte, 8)}}},
		"more data":        {false, []wrongAnswer{data(101)}},
		"more data in two": {false, []wrongAnswer{data(60), data(60)}},
		"less data":        {false, []wrongAnswer{data(99)}},
		"twice":            {false, []wrongAnswer{data(100), data(100)}},
		"another length": {false,
			[]wrongAnswer{{header{kind: kindData, id: 1, bytes: 50},
				make([]byte, 60)}}},
		"unknown kind": {false, []wrongAnswer{{header{kind: 250}, nil}}},
		"a request": {false,
			[]wrongAnswer{{header{kind: kindPut, bytes: 8}, make([]byte, 8)}}},
		"a long refusal": {false,
			[]wrongAnswer{{header{kind: kindRefused, id: 1, bytes: 5000},
				make([]byte, 5000)}}},
		"an endless reply": {true, []wrongAnswer{part(0, 8, maxMessage+1)}},
		"a reply without an end": {true, []wrongAnswer{part(0, 8, 20), part(8, 8, 20),
			part(16, 8, 20)}},
		"parts in the wrong order": {true, []wrongAnswer{part(8, 8, 16)}},
		"parts that disagree":      {true, []wrongAnswer{part(0, 8, 20), part(8, 8, 16)}},
		"an empty part":            {true, []wrongAnswer{part(0, 8, 20), part(8, 0, 20)}},
		"data for a call":          {true, []wrongAnswer{data(8)}},
		"a message for another": {true,
			[]wrongAnswer{{header{kind: kindMessage, rank: 1, bytes: 1}, []byte("x")}}},
		"a goodbye of a node that stays": {true,
			[]wrongAnswer{{header{kind: kindReleaseAck}, nil}}},
		"a long acknowledgement": {true,
			[]wrongAnswer{{header{kind: kindAck, bytes: 8}, make([]byte, 8)}}},
	} {
		t.Run(name, func(t *testing.T) {
			leaktest.Check(t)
			ends, strangers := newMixed(t, pipe.New(pipe.Options{}), nil, 2, 1)
			at := ends.Alloc(t, 0, 4096)
			strangers[1].serve = func(_ *rawProcess, e transport.TargetEndpoint,
				f rawFrame) {
				for _, l := range c.lies {
					h := l.h
					if h.id == 1 {
						h.id = f.id
					}
					e.Post(h.append(nil), l.body)
				}
			}
			var err error
			transporttest.Returns(t, "the operation", func() {
				for err == nil {
					// what comes after the answer is read by the next
					// operation, at the latest
					if c.call {
						_, err = ends.Open[0].Call(1,
							transport.Msg{Body: []byte("?")})
						continue
					}
					done := make(chan error, 1)
					x := plain(at+1000, 0x1000, 100)
					x.Done = func(err error) { done <- err }
					if err = ends.Open[0].Get(1, x); err == nil {
						err = <-done
					}
				}
			})
			if !errors.Is(err, transport.ErrPeerDead) {
				t.Errorf("the operation ended with: %v", err)
			}
			if l := losses(t, ends); !strings.Contains(l,
				"rank 0 was told about rank 1") ||
				!strings.Contains(l, "violation") {
				t.Error(l)
			}
			clear(memory(at+1000, 100))
			if !bytes.Equal(memory(at, 4096), make([]byte, 4096)) {
				t.Error("memory around that of the get was written to")
			}
		})
	}
}

// TestRefusedCallIsNoLoss shows that a refused call fails, and the node is not lost.
func TestRefusedCallIsNoLoss(t *testing.T) {
	leaktest.Check(t)
	ends, strangers := newMixed(t, pipe.New(pipe.Options{}), nil, 2, 1)
	strangers[1].serve = func(_ *rawProcess, e transport.TargetEndpoint, f rawFrame) {
		h := header{kind: kindRefused, what: whyInvalid, id: f.id, bytes: 6}
		e.Post(h.append(nil), []byte("no way"))
	}
	for range 3 {
		if _, err := ends.Open[0].Call(1, transport.Msg{}); err == nil ||
			!strings.Contains(err.Error(), "no way") {
			t.Errorf("a refused call: %v", err)
		}
	}
	if l := ends.Losses(); len(l) > 0 {
		t.Error(l)
	}
}

// TestNodeReportsLoss shows that a node's report of the rank that is to blame reaches the job.
func TestNodeReportsLoss(t *testing.T) {
	leaktest.Check(t)
	ends, strangers := newMixed(t, pipe.New(pipe.Options{}), nil, 3, 1)
	strangers[1].serve = func(_ *rawProcess, e transport.TargetEndpoint, _ rawFrame) {
		h := header{kind: kindLost, rank: 2, bytes: 5}
		e.Post(h.append(nil), []byte("cause"))
		e.Break()
	}
	go ends.Open[0].Call(1, transport.Msg{})
	if l := losses(t, ends); !strings.Contains(l, "rank 2: cause") &&
		!strings.Contains(l, "broken") {
		// Break may be faster
		t.Error(l)
	}
}

// TestConnectTimesOut shows that a node that is not there, or does not let this process in, is an
// error within the timeout.
func TestConnectTimesOut(t *testing.T) {
	leaktest.Check(t)
	for _, addr := range [][]byte{[]byte("nowhere"), nil} {
		ends := newEnds(t, pipe.New(pipe.Options{}),
			func(o *Options) { o.Timeout = 300 * time.Millisecond }, 1, 1)
		peers := ends.Peers()
		peers[1].Addr = addr
		if err := ends.Open[0].Connect(peers); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			transporttest.Returns(t, "a call", func() {
				if _, err := ends.Open[0].Call(1, transport.Msg{}); !errors.Is(err,
					transport.ErrPeerDead) {
					t.Errorf("a call to %q: %v", addr, err)
				}
			})
		}
		if err := ends.Open[0].Put(1, plain(0x1000, 0x1000, 8)); !errors.Is(err,
			transport.ErrPeerDead) {
			t.Errorf("a put to %q: %v", addr, err)
		}
	}
}
