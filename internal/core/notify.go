// SPDX-License-Identifier: BSD-3-Clause

// Notification: counters per ordered pair of ranks, raised after everything the sender has stored at the target.
package core

import (
	"sync"
	"unsafe"

	"libarmci/internal/transport"
)

// notified counts what this rank has waited for, by source.
type notified struct {
	mu     sync.Mutex
	waited []uint32
}

func (n *notified) init(ranks int) { n.waited = make([]uint32, ranks) }

// Notify raises proc's counter for this rank and returns how often that has been done.
func (r *Runtime) Notify(proc int) (int, error) {
	if err := r.checkRank("proc", proc); err != nil {
		return 0, err
	}
	if err := r.Fence(proc); err != nil {
		return 0, err
	}
	return int(r.Node.Notify(r.Topo.Local(transport.Rank(proc)), r.Me)), nil
}

// NotifyWait waits for the next notification from proc: it returns how many have arrived and how many were waited for.
func (r *Runtime) NotifyWait(proc int) (received, waited int, err error) {
	if err := r.checkRank("proc", proc); err != nil {
		return 0, 0, err
	}
	r.notified.mu.Lock()
	r.notified.waited[proc]++
	want := r.notified.waited[proc]
	r.notified.mu.Unlock()
	got := r.Node.NotifyWait(transport.Rank(proc), want)
	return int(got), int(want), nil
}

func unsafeSlice(p unsafe.Pointer, n int64) []byte { return unsafe.Slice((*byte)(p), n) }
