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
	proc   *fabricProcess
	t      testing.TB
	peer   transport.Rank
	target bool
	ep     transport.Endpoint

	// What a test may set, by change once frames may come.
	settingsMu sync.Mutex
	bodyFor    func(head []byte, nbytes int64) transport.Body // where bodies go; nil: to Data
	// End has been called; nil: answer
	onFrame     func(f *frame) error
	expectsData func() bool
	errorFor    func(method string, f *frame) error // an error of Head, Data or End
	postsInLost bool                                // Lost posts something

	posting    sync.Mutex    // the lock of the origin's caller
	credits    chan struct{} // one for each frame at the target; nil: any number
	lostSignal chan struct{} // closed by Lost

	callsRunning atomic.Int32 // calls of the Receiver
	current      *frame       // begun
	bytesMissing int64        // bytes of it that have not come
	grain        int          // of Data
	into         *kernel.Cursor
	echoBody     []byte // a body that is being sent
	afterSent    func() // called when it has left

	mu         sync.Mutex
	changed    *sync.Cond
	frames     []frame
	answers    int // acknowledgements and echoes
	sentCalls  int // calls of Sent
	lostErrors []error
	closed     bool
}

func newFabricEnd(p *fabricProcess, peer transport.Rank) *fabricEnd {
	e := &fabricEnd{proc: p, t: p.job.t, peer: peer, lostSignal: make(chan struct{})}
	e.changed = sync.NewCond(&e.mu)
	if n := p.fabric.Info().Credits; n > 0 {
		e.credits = make(chan struct{}, n)
	}
	return e
}

// violation is what the fabric does wrong.
func (e *fabricEnd) violation(format string, args ...any) error {
	err := fmt.Errorf("rank %d, connection with %d: %s", e.proc.rank, e.peer,
		fmt.Sprintf(format, args...))
	e.t.Error(err)
	return err
}

// beginCall checks that one thread at a time calls, and nobody after the end.
func (e *fabricEnd) beginCall(what string) (leave func()) {
	if e.callsRunning.Add(1) != 1 {
		e.violation("%s is called while another call of the Receiver goes on", what)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || len(e.lostErrors) > 0 {
		e.violation("%s is called after the end (closed: %v, lost: %v)", what, e.closed,
			e.lostErrors)
	}
	return func() { e.callsRunning.Add(-1) }
}

// Head begins a frame.
func (e *fabricEnd) Head(head []byte, nbytes int64) (b transport.Body, err error) {
	defer e.beginCall("Head")()
	switch {
	case e.current != nil:
		return b, e.violation("Head before End")
	case e.echoBody != nil:
		return b, e.violation("Head before Sent")
	case nbytes < 0 || len(head) > transport.MaxHead:
		return b, e.violation("a head of %d bytes with a body of %d", len(head), nbytes)
	}
	e.current, e.bytesMissing = &frame{head: bytes.Clone(head)}, nbytes
	e.configure(func() {
		if e.bodyFor != nil {
			b = e.bodyFor(head, nbytes)
		}
	})
	if err = e.wantedError("Head"); err != nil {
		return b, err
	}
	e.into, e.grain = b.Into, max(b.Grain, 1)
	if e.into != nil {
		nbytes = e.into.Left() - nbytes // where the cursor is to be at the end
		e.bytesMissing = nbytes
	}
	return b, nil
}

// Data keeps a part of a body.
func (e *fabricEnd) Data(b []byte) error {
	defer e.beginCall("Data")()
	if e.current == nil || e.into != nil || len(b) == 0 || len(b)%e.grain != 0 ||
		int64(len(b)) > e.bytesMissing {
		return e.violation("Data with %d bytes in grains of %d, of %d that are left "+
			"(open: %v)", len(b), e.grain, e.bytesMissing, e.current != nil)
	}
	e.current.body = append(e.current.body, b...)
	e.bytesMissing -= int64(len(b))
	return e.wantedError("Data")
}

// wantedError is the error that a test wants.
func (e *fabricEnd) wantedError(method string) (err error) {
	e.configure(func() {
		if e.errorFor != nil {
			err = e.errorFor(method, e.current)
		}
	})
	return err
}

// End ends a frame.
func (e *fabricEnd) End() error {
	defer e.beginCall("End")()
	f := e.current
	switch {
	case f == nil:
		return e.violation("End before Head")
	case e.into == nil && e.bytesMissing != 0:
		return e.violation("%d bytes are missing at End", e.bytesMissing)
	case e.into != nil && e.into.Left() != e.bytesMissing:
		return e.violation("a cursor has %d bytes left at End, not %d", e.into.Left(),
			e.bytesMissing)
	}
	if err := e.wantedError("End"); err != nil {
		return err
	}
	e.current = nil
	end := e.recordFrame
	e.configure(func() {
		if e.onFrame != nil {
			end = e.onFrame
		}
	})
	return end(f)
}

// configure changes what the test has set, or anything that its functions use.
func (e *fabricEnd) configure(do func()) {
	e.settingsMu.Lock()
	defer e.settingsMu.Unlock()
	do()
}

// recordFrame is what End does where a test says nothing else: it keeps the frame and answers it.
func (e *fabricEnd) recordFrame(f *frame) error {
	if e.target {
		e.answerFrame(f)
	} else if len(f.head) > 0 && (f.head[0] == headAck || f.head[0] == headReply) {
		e.countAnswer()
		if f.head[0] == headAck {
			return nil
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.frames = append(e.frames, *f)
	e.changed.Broadcast()
	return nil
}

// countAnswer: the target has handled a frame.
func (e *fabricEnd) countAnswer() {
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

// answerFrame answers a frame. The origin may have closed the connection already: then Lost
// follows.
func (e *fabricEnd) answerFrame(f *frame) {
	if len(f.head) == 0 || f.head[0] != headEcho {
		e.ep.Send([]byte{headAck}, nil, 0, transport.Now)
		return
	}
	head := slices.Concat([]byte{headReply}, f.head[1:])
	if len(f.body) == 0 {
		e.ep.Send(head, nil, 0, transport.Now)
		return
	}
	e.echoBody = bytes.Clone(f.body)
	c := cursorOf(e.echoBody)
	if _, err := e.ep.Send(head, &c, c.Left(), transport.Now); err != nil {
		e.echoBody = nil
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
	clear(e.echoBody)
	e.mu.Lock()
	e.sentCalls++
	e.changed.Broadcast()
	e.mu.Unlock()
	next := e.afterSent
	e.echoBody, e.afterSent = nil, nil
	if next != nil {
		next()
	}
}

// Expects is what the test says.
func (e *fabricEnd) Expects() (yes bool) {
	e.configure(func() { yes = e.expectsData != nil && e.expectsData() })
	return yes
}

// Lost notes the loss.
func (e *fabricEnd) Lost(err error) {
	defer e.beginCall("Lost")()
	if err == nil {
		err = errors.New("(nil)")
		e.violation("Lost without an error")
	}
	if e.postsInLost {
		e.postFrame([]byte{headPosted, 'z'}, []byte("goodbye"))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lostErrors = append(e.lostErrors, err); len(e.lostErrors) == 1 {
		close(e.lostSignal)
	}
	e.changed.Broadcast()
}
