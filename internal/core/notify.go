// SPDX-License-Identifier: BSD-3-Clause

// Notification: a counter for each ordered pair of ranks, raised after everything that the sender
// has stored at the target. C makes the plain calls (capi/notify.c): here are those that find no
// fast path, and those that sleep.
package core

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// Notified is what this rank knows of its notifications to and from another one. C changes it, too:
// capi/front.h has the layout as struct notified.
type Notified struct {
	Waited atomic.Uint32  // notifications from it that were waited for
	Sent   atomic.Uint32  // to it, if it is on another node
	At     atomic.Uintptr // my counter there, once a device has written it
}

// Notified returns an entry for each rank. Their address does not change.
func (r *Runtime) Notified() []Notified { return r.notified }

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
	r.notifying.Lock()
	defer r.notifying.Unlock()
	count := r.notified[proc].Sent.Load() + 1
	if err := r.sendNotification(to, count); err != nil {
		return 0, fmt.Errorf("notification of rank %d: %w", proc, err)
	}
	r.traffic.countPosted(proc) // a fence waits for it, too
	r.notified[proc].Sent.Store(count)
	return int(count), nil
}

// sendNotification has a rank of another node notified so often: by the device if possible, else
// the data server counts.
func (r *Runtime) sendNotification(to transport.Rank, count uint32) error {
	dest := r.route(to)
	if dest.notifier == nil {
		return dest.tr.Send(dest.peer, transport.Msg{Kind: msgNotify, Unhurried: true})
	}
	at, err := dest.notifier.Notify(dest.peer, msgNotify, count)
	if at == 0 || err != nil {
		return err
	}
	r.notified[to].At.Store(at)
	if r.notifications.NotifySent(to, count) {
		return r.TellNotified(int(to), count)
	}
	return nil
}

// NotifyWait waits for the next notification from proc: it returns how many have arrived and how
// many were waited for.
func (r *Runtime) NotifyWait(proc int) (received, waited int, err error) {
	if err := r.checkRank("proc", proc); err != nil {
		return 0, 0, err
	}
	want := r.notified[proc].Waited.Add(1)
	received, err = r.NotifyWaitFor(proc, want)
	return received, int(want), err
}

// NotifyWaitFor waits for a notification from proc by its number, which Waited has counted: it
// returns how many have arrived.
func (r *Runtime) NotifyWaitFor(proc int, want uint32) (received int, err error) {
	r.postCoalesced(everyRank)
	from := transport.Rank(proc)
	if r.route(from).notifier != nil && !r.notifications.NotifySoon(from, want) &&
		!r.notifications.Notified(r.Topo.Local(r.Me), from, want) {
		if err := r.sendActive(from, msgAwait, binary.LittleEndian.AppendUint32(nil,
			want)); err != nil {
			return 0, fmt.Errorf("wait for rank %d: %w", proc, err)
		}
	}
	return int(r.notifications.NotifyWait(from, want)), nil
}

// TellNotified has a rank of another node woken that waits for this rank's notifications, of which
// a device has written so many.
func (r *Runtime) TellNotified(proc int, count uint32) error {
	return r.sendNotified(transport.Rank(proc), r.Me, count)
}

// sendNotified has a rank of another node woken that waits for so many notifications from a rank of
// mine, which a device has written.
func (r *Runtime) sendNotified(to, from transport.Rank, count uint32) error {
	body := binary.LittleEndian.AppendUint32(nil, uint32(from))
	return r.sendActive(to, msgNotified, binary.LittleEndian.AppendUint32(body, count))
}

// handleNotified acts on a rank that is going to sleep until it is told of its notifications, or
// tells one of this node.
func (r *Runtime) handleNotified(from, to transport.Rank, m transport.Msg) bool {
	switch {
	case m.Kind == msgAwait && len(m.Body) == 4:
		want := binary.LittleEndian.Uint32(m.Body)
		if r.notifications.NotifyAsk(r.Topo.Local(to), from, want) {
			go func() { // a message may have to wait for room
				defer log.Guard()
				if err := r.sendNotified(from, to, want); err != nil {
					log.Warnf("notification of rank %d by rank %d: %v", from,
						to, err)
				}
			}()
		}
	case m.Kind == msgNotified && len(m.Body) == 8:
		source, want := binary.LittleEndian.Uint32(m.Body),
			binary.LittleEndian.Uint32(m.Body[4:])
		if int(source) >= r.N {
			return false
		}
		if local := r.Topo.Local(to); !r.notifications.Notified(local,
			transport.Rank(source), want) {
			go r.wakeWhenNotified(local, transport.Rank(source), want)
		}
	default:
		return false
	}
	return true
}

// wakeWhenNotified wakes a rank when its counter is there: the notifier's write and another
// process's word of it go different ways. A write that never comes was lost with its connection,
// which is told elsewhere.
func (r *Runtime) wakeWhenNotified(local int, source transport.Rank, want uint32) {
	defer log.Guard()
	for pause := 10 * time.Microsecond; pause < time.Minute; pause *= 2 {
		time.Sleep(pause)
		if r.notifications.Notified(local, source, want) {
			return
		}
	}
}
