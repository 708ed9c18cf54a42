// SPDX-License-Identifier: BSD-3-Clause

// A connection's end in the fabric suite: a Receiver that checks the order in which it is called
// and records the frames. A target's end answers every frame with one: an echo of its body, or an
// acknowledgement. So the origin's end knows how many frames the target has not handled. The
// methods that tests call are in fabric_drive.go.
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

// The first byte of a head is the kind of the frame.
const (
	headKeep   = 'k' // the target records it and acknowledges it
	headEcho   = 'e' // the target sends the body back
	headAck    = 'a' // an acknowledgement
	headReply  = 'r' // an echo
	headPosted = 'p' // posted by the target; not an answer
)

// frame is a received frame.
type frame struct {
	head, body []byte
}

// fabricEnd is the Receiver of one end of a connection, with the Endpoint of that end.
type fabricEnd struct {
	proc   *fabricProcess
	t      testing.TB
	peer   transport.Rank
	target bool // it is the target's end
	ep     transport.Endpoint

	posting    sync.Mutex    // held by callers of an origin's endpoint
	credits    chan struct{} // one for each unanswered frame; nil: any number
	lostSignal chan struct{} // closed by Lost

	settingsMu sync.Mutex
	endSettings
	receiving

	mu      sync.Mutex
	changed *sync.Cond // broadcast when endRecord has changed
	endRecord
}

// endSettings is what a test changes in an end. fabricEnd.settingsMu guards it: tests use configure
// once frames may arrive.
type endSettings struct {
	// bodyFor is the result of BeginFrame; nil: all bodies go to Data.
	bodyFor func(head []byte, nbytes int64) transport.Body
	// onFrame is called by EndFrame; nil: recordFrame.
	onFrame     func(f *frame) error
	expectsData func() bool // the result of ExpectsBulk; nil: false
	// errorFor is the error of BeginFrame, Data or EndFrame; nil: none.
	errorFor    func(method string, f *frame) error
	postsInLost bool // Lost posts a frame
}

// receiving is the state of the frame that is being received, and of the echo that is being sent.
// The thread that polls owns it, except callsRunning.
type receiving struct {
	callsRunning atomic.Int32 // calls of methods of Receiver that have not returned
	current      *frame       // BeginFrame was called, EndFrame not yet; nil: none
	// bytesMissing is the number of bytes for Data, or what the cursor has left at the end.
	bytesMissing int64
	grain        int            // of Data
	into         *kernel.Cursor // nil: the body goes to Data
	echoBody     []byte         // in use until Sent; nil: there is none
	afterSent    func()         // called by Sent
}

// endRecord is what an end has seen. fabricEnd.mu guards it.
type endRecord struct {
	frames     []frame // not taken by the test
	answers    int     // acknowledgements and echoes
	sentCalls  int     // calls of Sent
	lostErrors []error // the arguments of Lost
	closed     bool    // Close has returned
}

func newFabricEnd(p *fabricProcess, peer transport.Rank) *fabricEnd {
	e := &fabricEnd{proc: p, t: p.job.t, peer: peer, lostSignal: make(chan struct{})}
	e.changed = sync.NewCond(&e.mu)
	if n := p.fabric.Info().Credits; n > 0 {
		e.credits = make(chan struct{}, n)
	}
	return e
}

// violation fails the test with a text about this end, and returns it as an error.
func (e *fabricEnd) violation(format string, args ...any) error {
	err := fmt.Errorf("rank %d, connection with %d: %s", e.proc.rank, e.peer,
		fmt.Sprintf(format, args...))
	e.t.Error(err)
	return err
}

// beginCall checks that no other call of the Receiver is running, and that the connection is
// neither closed nor lost. The caller defers the result.
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

// BeginFrame checks the order of calls and returns bodyFor's result.
func (e *fabricEnd) BeginFrame(head []byte, nbytes int64) (b transport.Body, err error) {
	defer e.beginCall("BeginFrame")()
	switch {
	case e.current != nil:
		return b, e.violation("BeginFrame before EndFrame")
	case e.echoBody != nil:
		return b, e.violation("BeginFrame before Sent")
	case nbytes < 0 || len(head) > transport.MaxHead:
		return b, e.violation("a head of %d bytes with a body of %d", len(head), nbytes)
	}
	e.current, e.bytesMissing = &frame{head: bytes.Clone(head)}, nbytes
	e.configure(func() {
		if e.bodyFor != nil {
			b = e.bodyFor(head, nbytes)
		}
	})
	if err = e.wantedError("BeginFrame"); err != nil {
		return b, err
	}
	e.into, e.grain = b.Into, max(b.Grain, 1)
	if e.into != nil {
		nbytes = e.into.Left() - nbytes // what the cursor must have left at EndFrame
		e.bytesMissing = nbytes
	}
	return b, nil
}

// Data checks and records a part of a body.
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

// wantedError is the error that a test wants of a method.
func (e *fabricEnd) wantedError(method string) (err error) {
	e.configure(func() {
		if e.errorFor != nil {
			err = e.errorFor(method, e.current)
		}
	})
	return err
}

// EndFrame checks that the body is complete, and calls onFrame.
func (e *fabricEnd) EndFrame() error {
	defer e.beginCall("EndFrame")()
	f := e.current
	switch {
	case f == nil:
		return e.violation("EndFrame before BeginFrame")
	case e.into == nil && e.bytesMissing != 0:
		return e.violation("%d bytes are missing at End", e.bytesMissing)
	case e.into != nil && e.into.Left() != e.bytesMissing:
		return e.violation("a cursor has %d bytes left at EndFrame, not %d", e.into.Left(),
			e.bytesMissing)
	}
	if err := e.wantedError("EndFrame"); err != nil {
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

// configure changes the settings, or variables that their functions use.
func (e *fabricEnd) configure(do func()) {
	e.settingsMu.Lock()
	defer e.settingsMu.Unlock()
	do()
}

// recordFrame records a frame. A target's end answers it; at an origin's end an answer frees a
// credit.
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

// countAnswer counts an answer, and frees a credit.
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

// answerFrame answers a frame. Errors of Send are ignored: the origin may have closed the
// connection, and Lost follows.
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

// cursorOf is a cursor of Go memory, which the caller keeps alive.
func cursorOf(b []byte) (c kernel.Cursor) {
	c.SetContiguous(uintptr(unsafe.Pointer(unsafe.SliceData(b))), int64(len(b)))
	return c
}

// Sent clears the body of an echo: a fabric that still reads it would send wrong bytes.
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

// Finished is false: each end of a connection is a loss.
func (e *fabricEnd) Finished() bool { return false }

// ExpectsBulk is the result of expectsData.
func (e *fabricEnd) ExpectsBulk() (yes bool) {
	e.configure(func() { yes = e.expectsData != nil && e.expectsData() })
	return yes
}

// Lost records the loss.
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
