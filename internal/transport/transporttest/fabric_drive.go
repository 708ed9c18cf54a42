// SPDX-License-Identifier: BSD-3-Clause

// What a test does with a connection's end: it sends within its credits, posts, waits for frames,
// and closes.
package transporttest

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// origin is the endpoint of an origin's end.
func (e *fabricEnd) origin() transport.OriginEndpoint { return e.e.(transport.OriginEndpoint) }

// wait waits for something that mu guards.
func (e *fabricEnd) wait(what string, done func() bool) {
	e.t.Helper()
	within(e.t, e.changed, fmt.Sprintf("rank %d, connection with %d: %s", e.p.rank, e.peer,
		what), done)
}

// frames waits for so many frames and takes them.
func (e *fabricEnd) frames(n int) (got []frame) {
	e.t.Helper()
	e.wait(fmt.Sprintf("%d frames come", n), func() bool {
		return len(e.got) >= n ||
			len(e.lost) > 0
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.got) < n {
		e.t.Fatalf("%d frames of %d have come, then: %v", len(e.got), n, e.lost)
	}
	got, e.got = e.got[:n:n], e.got[n:]
	return got
}

// credit waits until another frame may be at the target.
func (e *fabricEnd) credit() error {
	if e.credits == nil {
		return nil
	}
	select {
	case e.credits <- struct{}{}:
		return nil
	default:
	}
	e.flush() // what was put off is not handled either
	select {
	case e.credits <- struct{}{}:
		return nil
	case <-e.over:
		return errors.New("the connection is lost")
	case <-time.After(patience):
		return e.violation("%d frames are not answered", cap(e.credits))
	}
}

// flush sends what was put off.
func (e *fabricEnd) flush() {
	for left := true; left; {
		e.posting.Lock()
		left = e.origin().Flush()
		e.posting.Unlock()
		if left {
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// send sends a frame, from the origin's end.
func (e *fabricEnd) send(head []byte, body *kernel.Cursor, when transport.When) (deferred bool,
	err error) {
	if err := e.credit(); err != nil {
		return false, err
	}
	e.posting.Lock()
	defer e.posting.Unlock()
	n := int64(0)
	if body != nil {
		n = body.Left()
	}
	return e.e.Send(head, body, n, when)
}

// sendSome is send with the next n bytes of a body.
func (e *fabricEnd) sendSome(head []byte, body *kernel.Cursor, n int64, when transport.When) error {
	err := e.credit()
	if err == nil {
		e.posting.Lock()
		defer e.posting.Unlock()
		_, err = e.e.Send(head, body, n, when)
	}
	return err
}

// sendBytes sends a frame and then uses the memory of both for something else.
func (e *fabricEnd) sendBytes(head, body []byte, when transport.When) {
	e.t.Helper()
	h, b := bytes.Clone(head), bytes.Clone(body)
	var c *kernel.Cursor
	if body != nil {
		at := cursorOf(b)
		c = &at
	}
	if _, err := e.send(h, c, when); err != nil {
		e.t.Fatalf("a frame of %d and %d bytes: %v", len(head), len(body), err)
	}
	clear(h)
	clear(b)
}

// post posts a frame from the target's end, and uses the memory of both for something else if it
// may.
func (e *fabricEnd) post(head, body []byte) {
	h, b := bytes.Clone(head), bytes.Clone(body)
	e.e.(transport.TargetEndpoint).Post(h, b)
	if e.p.copies {
		clear(h)
		clear(b)
	}
}

// close closes the origin's end, once.
func (e *fabricEnd) close(linger time.Duration) {
	e.mu.Lock()
	again := e.closed
	e.mu.Unlock()
	if again {
		return
	}
	e.p.leave(e)
	e.posting.Lock()
	e.e.Close(linger)
	e.posting.Unlock()
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
}

// most is the most bytes of a body that goes with such a head.
func (e *fabricEnd) most(head int) int {
	if m := e.e.MaxFrame(); m > 0 {
		return m - head
	}
	return 1 << 40
}
