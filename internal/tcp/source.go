// SPDX-License-Identifier: BSD-3-Clause

// An origin's end of a connection: receiving. Whoever waits for an answer reads the socket himself, because to be told by
// another thread takes longer than the whole answer. One thread at a time polls.
package tcp

import (
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
)

const sleepAtMost = 20 * time.Millisecond // which bounds how long Interrupt takes

// Poll receives what has come.
func (e *endpoint) Poll(looks int) int {
	for i := 1; !e.lost; i++ {
		n, err := e.receive()
		if err == nil {
			return n
		}
		if err != unix.EAGAIN {
			e.lose(err)
			return 1
		}
		if i >= looks {
			break
		}
		rawsock.Yield()
	}
	return 0
}

// receive takes what is there and deals with it.
func (e *endpoint) receive() (n int, err error) {
	direct := e.rx.open && e.rx.direct
	if !direct {
		b := inputs.Get().(*[bufferBytes]byte)
		defer inputs.Put(b)
		e.rx.lend(b[:])
	}
	if n, err = e.rx.receive(direct); err == nil {
		err = e.rx.parse()
	}
	e.rx.giveBack()
	return n, err
}

// lose tells that the connection is gone.
func (e *endpoint) lose(err error) {
	e.lost = true
	e.shut(err)
	e.f.ends.remove(e.fd)
	e.rx.to.Lost(e.err())
}

// Sleep blocks until the socket has something, but not for long: so Interrupt needs no descriptor of its own.
func (e *endpoint) Sleep(limit time.Duration) {
	if limit < 0 || limit > sleepAtMost {
		limit = sleepAtMost
	}
	if !e.interrupted.Swap(false) {
		rawsock.WaitFor(e.fd, unix.POLLIN, time.Now().Add(limit))
	}
}

// Interrupt ends Sleep.
func (e *endpoint) Interrupt() { e.interrupted.Store(true) }
