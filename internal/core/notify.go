// SPDX-License-Identifier: BSD-3-Clause

// Notification: a counter for each ordered pair of ranks, raised after everything that the sender has stored at the target.
package core

import (
	"fmt"
	"sync"

	"libarmci/internal/transport"
)

// notified counts what this rank has waited for, by source, and what it has sent to other nodes, by target.
type notified struct {
	mu     sync.Mutex
	waited []uint32
	sent   []uint32
}

func (n *notified) init(ranks int) { n.waited, n.sent = make([]uint32, ranks), make([]uint32, ranks) }

// Notify raises proc's counter for this rank and returns how often that has been done.
func (r *Runtime) Notify(proc int) (int, error) {
	if err := r.checkRank("proc", proc); err != nil {
		return 0, err
	}
	if err := r.fenceForMessage(proc); err != nil {
		return 0, err
	}
	to := transport.Rank(proc)
	if r.Topo.SameNode(to) {
		return int(r.notifications.Notify(r.Topo.Local(to), r.Me)), nil
	}
	r.notified.mu.Lock()
	defer r.notified.mu.Unlock()
	if err := r.notify(to, r.notified.sent[proc]+1); err != nil {
		return 0, fmt.Errorf("notification of rank %d: %w", proc, err)
	}
	r.traffic.posted(proc) // a fence waits for it, too
	r.notified.sent[proc]++
	return int(r.notified.sent[proc]), nil
}

// notify has a rank of another node notified so often: by the device if possible, else the data server counts.
func (r *Runtime) notify(to transport.Rank, count uint32) error {
	if dest := &r.routes[to]; dest.notifier != nil {
		if done, err := dest.notifier.Notify(dest.peer, msgNotified, count); done || err != nil {
			return err
		}
	}
	return r.send(to, msgNotify, nil)
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
	got := r.notifications.NotifyWait(transport.Rank(proc), want)
	return int(got), int(want), nil
}
