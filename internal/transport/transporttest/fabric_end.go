// SPDX-License-Identifier: BSD-3-Clause

// A connection's end in the fabric suite: a Receiver that checks the order in which it is called
// and keeps the frames that come. A target's end answers every frame with one: an echo of its body,
// or an acknowledgement. That is how the origin's end knows how many frames are at the target. What
// a test does with an end is in fabric_drive.go.
package transporttest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// The first byte of a head says what a frame is.
const (
	headKeep   = 'k' // the target keeps it and acknowledges it
	headEcho   = 'e' // the target sends the body back
	headAck    = 'a' // an acknowledgement
	headReply  = 'r' // an echo
	headPosted = 'p' // by the target, without having been asked
)

// frame is a frame that has come whole.
type frame struct {
	head, body []byte
}

type fabricEnd struct {
	p      *fabricProcess
	t      testing.TB
	peer   transport.Rank
	target bool
	e      transport.Endpoint

	// What a test may set, by change once frames may come.
	setting   sync.Mutex
	place     func(head []byte, nbytes int64) transport.Body // where bodies go; nil: to Data
	ended     func(f *frame) error                           // End has been called; nil: answer
	expects   func() bool
	refusal   func(method string, f *frame) error // an error of Head, Data or End
	lastWords bool                                // Lost posts something

	posting sync.Mutex    // the lock of the origin's caller
	credits chan struct{} // one for each frame at the target; nil: any number
	over    chan struct{} // closed by Lost

	busy  atomic.Int32 // calls of the Receiver
	open  *frame       // begun
	left  int64        // bytes of it that have not come
	grain int          // of Data
	into  *kernel.Cursor
	reply []byte // a body that is being sent
	next  func() // called when it has left

	mu      sync.Mutex
	changed *sync.Cond
	got     []frame
	answers int // acknowledgements and echoes
	sent    int // calls of Sent
	lost    []error
	closed  bool
}

func newFabricEnd(p *fabricProcess, peer transport.Rank) *fabricEnd {
	e := &fabricEnd{p: p, t: p.j.t, peer: peer, over: make(chan struct{})}
	e.changed = sync.NewCond(&e.mu)
	if n := p.fabric.Info().Credits; n > 0 {
		e.credits = make(chan struct{}, n)
	}
	return e
}

// violation is what the fabric does wrong.
func (e *fabricEnd) violation(format string, args ...any) error {
	err := fmt.Errorf("rank %d, connection with %d: %s", e.p.rank, e.peer,
		fmt.Sprintf(format, args...))
	e.t.Error(err)
	return err
}

// enter checks that one thread at a time calls, and nobody after the end.
func (e *fabricEnd) enter(what string) (leave func()) {
	if e.busy.Add(1) != 1 {
		e.violation("%s is called while another call of the Receiver goes on", what)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || len(e.lost) > 0 {
		e.violation("%s is called after the end (closed: %v, lost: %v)", what, e.closed,
			e.lost)
	}
	return func() { e.busy.Add(-1) }
}

// Head begins a frame.
func (e *fabricEnd) Head(head []byte, nbytes int64) (b transport.Body, err error) {
	defer e.enter("Head")()
	switch {
	case e.open != nil:
		return b, e.violation("Head before End")
	case e.reply != nil:
		return b, e.violation("Head before Sent")
	case nbytes < 0 || len(head) > transport.MaxHead:
		return b, e.violation("a head of %d bytes with a body of %d", len(head), nbytes)
	}
	e.open, e.left = &frame{head: bytes.Clone(head)}, nbytes
	e.change(func() {
		if e.place != nil {
			b = e.place(head, nbytes)
		}
	})
	if err = e.refuse("Head"); err != nil {
		return b, err
	}
	e.into, e.grain = b.Into, max(b.Grain, 1)
	if e.into != nil {
		nbytes = e.into.Left() - nbytes // where the cursor is to be at the end
		e.left = nbytes
	}
	return b, nil
}

// Data keeps a part of a body.
func (e *fabricEnd) Data(b []byte) error {
	defer e.enter("Data")()
	if e.open == nil || e.into != nil || len(b) == 0 || len(b)%e.grain != 0 ||
		int64(len(b)) > e.left {
		return e.violation("Data with %d bytes in grains of %d, of %d that are left "+
			"(open: %v)", len(b), e.grain, e.left, e.open != nil)
	}
	e.open.body = append(e.open.body, b...)
	e.left -= int64(len(b))
	return e.refuse("Data")
}

// refuse is the error that a test wants.
func (e *fabricEnd) refuse(method string) (err error) {
	e.change(func() {
		if e.refusal != nil {
			err = e.refusal(method, e.open)
		}
	})
	return err
}

// End ends a frame.
func (e *fabricEnd) End() error {
	defer e.enter("End")()
	f := e.open
	switch {
	case f == nil:
		return e.violation("End before Head")
	case e.into == nil && e.left != 0:
		return e.violation("%d bytes are missing at End", e.left)
	case e.into != nil && e.into.Left() != e.left:
		return e.violation("a cursor has %d bytes left at End, not %d", e.into.Left(),
			e.left)
	}
	if err := e.refuse("End"); err != nil {
		return err
	}
	e.open = nil
	end := e.finish
	e.change(func() {
		if e.ended != nil {
			end = e.ended
		}
	})
	return end(f)
}

// change changes what the test has set, or anything that its functions use.
func (e *fabricEnd) change(do func()) {
	e.setting.Lock()
	defer e.setting.Unlock()
	do()
}

// finish is what End does where a test says nothing else: it keeps the frame and answers it.
func (e *fabricEnd) finish(f *frame) error {
	if e.target {
		e.answer(f)
	} else if len(f.head) > 0 && (f.head[0] == headAck || f.head[0] == headReply) {
		e.handled()
		if f.head[0] == headAck {
			return nil
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.got = append(e.got, *f)
	e.changed.Broadcast()
	return nil
}

// handled: the target has handled a frame.
func (e *fabricEnd) handled() {
	if e.credits != nil {
		select {
		case <-e.credits:
		default:
			e.violation("more answers than frames")
		}
	}
	e.mu.Lock()
	e.answers++
	e.changed.Broadcast()
	e.mu.Unlock()
}

// answer answers a frame. The origin may have closed the connection already: then Lost follows.
func (e *fabricEnd) answer(f *frame) {
	if len(f.head) == 0 || f.head[0] != headEcho {
		e.e.Send([]byte{headAck}, nil, 0, transport.Now)
		return
	}
	head := slices.Concat([]byte{headReply}, f.head[1:])
	if len(f.body) == 0 {
		e.e.Send(head, nil, 0, transport.Now)
		return
	}
	e.reply = bytes.Clone(f.body)
	c := cursorOf(e.reply)
	if _, err := e.e.Send(head, &c, c.Left(), transport.Now); err != nil {
		e.reply = nil
	}
	clear(head)
}

// cursorOf is a cursor of Go memory, which the caller keeps.
func cursorOf(b []byte) (c kernel.Cursor) {
	c.SetContiguous(uintptr(unsafe.Pointer(unsafe.SliceData(b))), int64(len(b)))
	return c
}

// Sent makes the body of an echo unusable: whoever reads it now reads something else.
func (e *fabricEnd) Sent() {
	if !e.target {
		e.violation("Sent is called at the origin's end")
	}
	clear(e.reply)
	e.mu.Lock()
	e.sent++
	e.changed.Broadcast()
	e.mu.Unlock()
	next := e.next
	e.reply, e.next = nil, nil
	if next != nil {
		next()
	}
}

// Expects is what the test says.
func (e *fabricEnd) Expects() (yes bool) {
	e.change(func() { yes = e.expects != nil && e.expects() })
	return yes
}

// Lost notes the loss.
func (e *fabricEnd) Lost(err error) {
	defer e.enter("Lost")()
	if err == nil {
		err = errors.New("(nil)")
		e.violation("Lost without an error")
	}
	if e.lastWords {
		e.post([]byte{headPosted, 'z'}, []byte("goodbye"))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lost = append(e.lost, err); len(e.lost) == 1 {
		close(e.over)
	}
	e.changed.Broadcast()
}
