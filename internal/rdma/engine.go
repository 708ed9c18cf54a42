// SPDX-License-Identifier: BSD-3-Clause

// The engine is one goroutine of a process that does what no caller is there to do: it takes completions of operations
// nobody waits for, feels the pulse of nodes that nothing is heard of, and hears what the device says. It sleeps in the
// kernel when there is nothing of the kind.
package rdma

import (
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// nap is how long the engine looks away while another one drives.
const nap = time.Millisecond

// pulseEvery is how often silent peers are felt for: two such times and the device's retries are less than the time after
// which a host is given up, or not much more.
func (o *Options) pulseEvery() time.Duration { return o.Timeout / 4 }

type engine struct {
	t      *Transport
	bell   int
	asleep atomic.Bool
	ended  chan struct{}
	beat   time.Time
}

func (e *engine) start(t *Transport) (err error) {
	e.t, e.ended, e.beat = t, make(chan struct{}), time.Now()
	if e.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return err
	}
	go e.run()
	return nil
}

// attend asks for attention: something is open that nobody waits for.
func (e *engine) attend() {
	if e.asleep.CompareAndSwap(true, false) {
		ring(e.bell)
	}
}

func (e *engine) stop() {
	ring(e.bell)
	<-e.ended
	unix.Close(e.bell)
}

func (e *engine) run() {
	defer log.Guard()
	defer close(e.ended)
	runtime.LockOSThread() // for what unbind does
	e.t.opt.unbind()
	for !e.t.closed.Load() {
		e.sleep()
		if time.Since(e.beat) >= e.t.opt.pulseEvery() {
			e.beat = time.Now()
			for _, w := range e.t.wires {
				w.pulse()
			}
		}
		e.t.client.glance()
	}
}

// sleep waits until there is something to do, perhaps.
func (e *engine) sleep() {
	c := e.t.client
	fds := []unix.PollFd{{Fd: int32(e.bell), Events: unix.POLLIN}, {Fd: int32(c.h.context.AsyncFD()), Events: unix.POLLIN},
		{Fd: int32(c.h.channel.FD()), Events: unix.POLLIN}}
	limit := max(time.Until(e.beat.Add(e.t.opt.pulseEvery())), 0)
	if len(*c.pairs.Load()) == 0 {
		limit = time.Hour // whoever makes the first connection asks for attention
	}
	e.asleep.Store(true)
	switch {
	case c.later.Load() == 0: // what completes can wait
		fds = fds[:2]
	case c.glance() && c.h.cq.Arm() == nil && c.glance():
		if c.later.Load() == 0 {
			limit = 0
		}
	default:
		fds, limit = fds[:2], nap
	}
	ts := unix.NsecToTimespec(int64(limit))
	unix.Ppoll(fds, &ts, nil)
	e.asleep.Store(false)
	if fds[0].Revents != 0 {
		var b [8]byte
		unix.Read(e.bell, b[:])
	}
	if fds[1].Revents != 0 {
		e.hear()
	}
	if len(fds) > 2 && fds[2].Revents != 0 {
		c.h.channel.Take()
	}
}

// hear takes what the device has to say.
func (e *engine) hear() {
	for {
		text, fatal, some := e.t.base.context.Async()
		if !some {
			return
		}
		log.Infof("%s: %s", e.t.base.way.device, text)
		if fatal {
			e.t.failAll(&deviceError{e.t.base.way.device, text})
		}
	}
}

type deviceError struct{ device, text string }

func (e *deviceError) Error() string { return "device " + e.device + " of this host: " + e.text }

// pulse writes no bytes to a node that nothing has been heard of for a while: if it has gone, that fails.
func (w *wire) pulse() {
	if !w.live.Load() || w.broken.Load() != nil || w.active.Swap(false) || !w.tryLock() {
		return
	}
	defer w.unlock()
	if w.flight.open(w.flight.next()) || w.slots.Load() == 0 || w.c.tokens.Load() == 0 {
		return // what is on its way fails too
	}
	o := newOp(&transport.Xfer{})
	o.later = &w.c.later
	o.later.Add(1)
	w.ship(&shipment{op: o, buffer: none}, []verbs.Request{{Op: verbs.Write}}, nil)
	o.part(nil)
}
