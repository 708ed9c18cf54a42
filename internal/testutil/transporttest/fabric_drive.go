// SPDX-License-Identifier: BSD-3-Clause

// The methods that a test calls of a connection's end: it sends within its credits, posts, waits
// for frames, and closes.
package transporttest

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// originEndpoint is the endpoint of an origin's end. It panics at a target's end.
func (e *fabricEnd) originEndpoint() transport.OriginEndpoint {
	return e.ep.(transport.OriginEndpoint)
}

// waitUntil waits for a condition that e.mu guards.
func (e *fabricEnd) waitUntil(what string, done func() bool) {
	e.t.Helper()
	waitWithin(e.t, e.changed, fmt.Sprintf("rank %d, connection with %d: %s", e.proc.rank,
		e.peer,
		what), done)
}

// takeFrames waits for n frames and removes them. It fails the test if the connection is lost.
func (e *fabricEnd) takeFrames(n int) (got []frame) {
	e.t.Helper()
	e.waitUntil(fmt.Sprintf("%d frames come", n), func() bool {
		return len(e.frames) >= n || len(e.lostErrors) > 0
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.frames) < n {
		e.t.Fatalf("%d frames of %d have come, then: %v", len(e.frames), n, e.lostErrors)
	}
	got, e.frames = e.frames[:n:n], e.frames[n:]
	return got
}

// takeCredit waits until the target may have one more frame that it has not answered.
func (e *fabricEnd) takeCredit() error {
	if e.credits == nil {
		return nil
	}
	select {
	case e.credits <- struct{}{}:
		return nil
	default:
	}
	e.flushAll() // the target does not answer deferred frames
	select {
	case e.credits <- struct{}{}:
		return nil
	case <-e.lostSignal:
		return errors.New("the connection is lost")
	case <-time.After(patience):
		return e.violation("%d frames are not answered", cap(e.credits))
	}
}

// flushAll sends all deferred frames.
func (e *fabricEnd) flushAll() {
	for left := true; left; {
		e.posting.Lock()
		left = e.originEndpoint().Flush()
		e.posting.Unlock()
		if left {
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// sendFrame sends a frame with a whole body from the origin's end.
func (e *fabricEnd) sendFrame(head []byte, body *kernel.Cursor, when transport.When) (deferred bool,
	err error) {
	if err := e.takeCredit(); err != nil {
		return false, err
	}
	e.posting.Lock()
	defer e.posting.Unlock()
	n := int64(0)
	if body != nil {
		n = body.Left()
	}
	return e.ep.Send(head, body, n, when)
}

// sendPartially is sendFrame with the next n bytes of a body.
func (e *fabricEnd) sendPartially(head []byte, body *kernel.Cursor, n int64,
	when transport.When) error {
	err := e.takeCredit()
	if err == nil {
		e.posting.Lock()
		defer e.posting.Unlock()
		_, err = e.ep.Send(head, body, n, when)
	}
	return err
}

// sendBytes sends a frame and then clears the memory of both.
func (e *fabricEnd) sendBytes(head, body []byte, when transport.When) {
	e.t.Helper()
	h, b := bytes.Clone(head), bytes.Clone(body)
	var c *kernel.Cursor
	if body != nil {
		at := cursorOf(b)
		c = &at
	}
	if _, err := e.sendFrame(h, c, when); err != nil {
		e.t.Fatalf("a frame of %d and %d bytes: %v", len(head), len(body), err)
	}
	clear(h)
	clear(b)
}

// postFrame posts a frame from the target's end. It clears the memory of both if the fabric copies.
func (e *fabricEnd) postFrame(head, body []byte) {
	h, b := bytes.Clone(head), bytes.Clone(body)
	e.ep.(transport.TargetEndpoint).Post(h, b)
	if e.proc.copies {
		clear(h)
		clear(b)
	}
}

// closeOrigin closes the origin's end. Further calls do nothing.
func (e *fabricEnd) closeOrigin(linger time.Duration) {
	e.mu.Lock()
	again := e.closed
	e.mu.Unlock()
	if again {
		return
	}
	e.proc.stopPolling(e)
	e.posting.Lock()
	e.ep.Close(linger)
	e.posting.Unlock()
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
}

// maxBody is the most bytes of a body behind a head of this length.
func (e *fabricEnd) maxBody(head int) int {
	if m := e.ep.MaxFrame(); m > 0 {
		return m - head
	}
	return 1 << 40
}
