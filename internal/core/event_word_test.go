// SPDX-License-Identifier: BSD-3-Clause

// Events that one rank alone raises, over wires with messages only and with a device that writes
// words.
package core

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// wordDevice writes words in their order, behind the caller's stores, as a device does: no waiter
// is woken. late is by how much a write arrives after messages that were sent behind it.
type wordDevice struct {
	transport.Transport
	late time.Duration

	mu   sync.Mutex
	last chan struct{} // closed when the last word has been written
}

func newWordDevice(tr transport.Transport, late time.Duration) *wordDevice {
	return &wordDevice{Transport: tr, late: late}
}

func (d *wordDevice) Notifies() bool { return true }

func (d *wordDevice) WritesWords() bool { return true }

func (d *wordDevice) Notify(p transport.Peer, kind uint8, _ uint32) (uintptr, error) {
	return 0, d.Send(p, transport.Msg{Kind: kind})
}

// WriteWord writes the word behind all stores to the peer, at once or after the delay.
func (d *wordDevice) WriteWord(p transport.Peer, addr uintptr, value uint32,
	_ transport.Msg) (bool, error) {
	if err := d.Fence(p); err != nil {
		return false, err
	}
	store := func() { (*atomic.Uint32)(pointer(addr)).Store(value) }
	if d.late == 0 {
		store()
		return true, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	before, written := d.last, make(chan struct{})
	d.last = written
	go func() {
		time.Sleep(d.late)
		if before != nil {
			<-before
		}
		store()
		close(written)
	}()
	return true, nil
}

// raiseInTurn has each rank raise the event of the next one, over the wrap-around of the count.
// Waiters of events that a device writes sleep until they are told.
func raiseInTurn(r *tr) {
	mem, buf := r.alloc(4096), r.local(8)
	next, prev := (int(r.Me)+1)%r.N, (int(r.Me)+r.N-1)%r.N
	const record = 64
	first := ^uint32(0) - 10
	count := (*atomic.Uint32)(pointer(mem[r.Me]))
	count.Store(first)
	(*atomic.Uint32)(pointer(mem[r.Me] + record)).Store(first)
	r.barrier()
	for i := range uint32(24) {
		if int(r.Me)%2 == int(i)%2 {
			time.Sleep(time.Millisecond)
		}
		*long(buf) = int64(i + 1)
		_, err := r.Start(op(Put, next, buf, mem[next]+512, 8), true)
		r.must(err)
		r.must(r.EventRaise(next, mem[next], mem[r.Me]+record))
		for count.Load() == first+i {
			changed, err := r.EventAwait(prev, mem[r.Me], mem[prev]+record, first+i, -1,
				"a test")
			r.must(err)
			if !changed {
				r.wrong("the wait ended without a change")
			}
		}
		if got := *long(mem[r.Me] + 512); got < int64(i+1) {
			r.wrong("event %d has come, but the word is %d", i+1, got)
		}
		r.barrier()
	}
	changed, err := r.EventAwait(prev, mem[r.Me], mem[prev]+record, first+24, 1, "a test")
	r.must(err)
	if changed {
		r.wrong("the event was raised once more")
	}
	r.barrier()
}

func TestEventRaise(t *testing.T) { everyShape(t, raiseInTurn) }

// An event that the device writes wakes its waiter, however late the write arrives.
func TestEventWrittenByDevice(t *testing.T) {
	for name, late := range map[string]time.Duration{"at once": 0,
		"late": 300 * time.Microsecond} {
		t.Run(name, func(t *testing.T) {
			shape{3, 6, true}.run(t, nil, func(r *tr) {
				r.internode.wordWriter = newWordDevice(r.internode.tr, late)
				r.barrier()
				raiseInTurn(r)
			})
		})
	}
}

// A count that never comes is not looked for when the job has ended and its memory is gone.
func TestEventToldTooMuch(t *testing.T) {
	apart.run(t, nil, func(r *tr) {
		mem, other := r.alloc(256), 1-int(r.Me)
		r.barrier()
		r.must(r.WakeEventWaiters(other, mem[other], 5))
		r.must(r.Fence(other))
		r.barrier()
	})
}

// EventRaise and EventAwait refuse events and records that are no aligned arena memory.
func TestEventRaiseMistakes(t *testing.T) {
	logged(t) // what the server drops
	apart.run(t, nil, func(r *tr) {
		mem, other := r.alloc(256), 1-int(r.Me)
		r.barrier()
		wantArg(r, "event", r.EventRaise(other, mem[other]+2, mem[r.Me]), "event",
			CodeAddress, "is no aligned arena memory")
		wantArg(r, "record", r.EventRaise(other, mem[other], mem[r.Me]+2), "record",
			CodeAddress, "is no aligned arena memory")
		wantArg(r, "record", r.EventRaise(other, mem[other], mem[other]), "record",
			CodeAddress, "is no aligned arena memory")
		_, err := r.EventAwait(2, mem[r.Me], mem[other], 0, 0, "a test")
		wantArg(r, "rank", err, "proc", CodeProc, "rank 2")
		body := make([]byte, eventAskBody)
		for _, n := range []int{eventAskBody, eventAskBody - 1} {
			if answer, err := r.callActive(transport.Rank(other), msgEventAsk,
				body[:n]); err != nil || len(answer) != 0 {
				r.wrong("a question of %d bytes: %v, %v", n, answer, err)
			}
			r.must(r.sendActive(transport.Rank(other), msgEventTold, body[:n-8]))
		}
		r.must(r.Fence(other))
		r.barrier()
		if *long(mem[r.Me]) != 0 {
			r.wrong("memory has changed: %#x", *long(mem[r.Me]))
		}
		r.barrier()
	})
}
