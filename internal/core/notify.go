// SPDX-License-Identifier: BSD-3-Clause

// Notification: a counter for each ordered pair of ranks, raised after everything that the sender
// has stored at the target. C makes the plain calls (capi/notify.c): here are those that find no
// fast path, and those that sleep.
package core

import (
	"encoding/binary"
	"fmt"
	"sync"
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
	At     atomic.Uintptr // address of this rank's counter there, once a device has written it
}

// notifier is the notifications of this rank.
type notifier struct {
	rt        *Runtime
	notified  []Notified // by rank
	notifying sync.Mutex // held while a rank of another node is notified: one after the other
}

// Notified returns an entry for each rank. Their address does not change.
func (nt *notifier) Notified() []Notified { return nt.notified }

// Notify raises proc's counter for this rank and returns how often that has been done.
func (nt *notifier) Notify(proc int) (int, error) {
	if err := nt.rt.checkRank("proc", proc); err != nil {
		return 0, err
	}
	if err := nt.rt.fenceForMessage(proc); err != nil {
		return 0, err
	}
	to := transport.Rank(proc)
	if nt.rt.Topo.SameNode(to) {
		return int(nt.rt.notifications.Notify(nt.rt.Topo.Local(to), nt.rt.Me)), nil
	}
	nt.notifying.Lock()
	defer nt.notifying.Unlock()
	count := nt.notified[proc].Sent.Load() + 1
	if err := nt.sendNotification(to, count); err != nil {
		return 0, fmt.Errorf("notification of rank %d: %w", proc, err)
	}
	nt.rt.traffic.countPosted(proc) // a fence waits for it, too
	nt.notified[proc].Sent.Store(count)
	return int(count), nil
}

// sendNotification raises this rank's count at rank to, on another node: the device writes it if it
// can, else the data server counts. The caller holds notifying.
func (nt *notifier) sendNotification(to transport.Rank, count uint32) error {
	dest := nt.rt.route(to)
	if dest.notifier == nil {
		return dest.tr.Send(dest.peer, transport.Msg{Kind: msgNotify, Unhurried: true})
	}
	at, err := dest.notifier.Notify(dest.peer, msgNotify, count)
	if at == 0 || err != nil {
		return err
	}
	nt.notified[to].At.Store(at)
	if nt.rt.notifications.RecordNotifySent(to, count) {
		return nt.WakeNotified(int(to), count)
	}
	return nil
}

// NotifyWait waits for the next notification from proc: it returns how many have arrived and how
// many were waited for.
func (nt *notifier) NotifyWait(proc int) (received, waited int, err error) {
	if err := nt.rt.checkRank("proc", proc); err != nil {
		return 0, 0, err
	}
	want := nt.notified[proc].Waited.Add(1)
	received, err = nt.NotifyWaitFor(proc, want)
	return received, int(want), err
}

// NotifyWaitFor waits for notification number want from proc, which the caller has taken from
// Waited. It returns how many have arrived.
func (nt *notifier) NotifyWaitFor(proc int, want uint32) (received int, err error) {
	nt.rt.coalescing.postCoalesced(everyRank)
	from := transport.Rank(proc)
	if nt.rt.route(from).notifier != nil && !nt.rt.notifications.NotifySoon(from, want) &&
		!nt.rt.notifications.WakeNotified(nt.rt.Topo.Local(nt.rt.Me), from, want) {
		if err := nt.rt.sendActive(from, msgAwait, binary.LittleEndian.AppendUint32(nil,
			want)); err != nil {
			return 0, fmt.Errorf("wait for rank %d: %w", proc, err)
		}
	}
	return int(nt.rt.notifications.NotifyWait(from, want)), nil
}

// WakeNotified wakes rank proc, of another node, if it waits for this rank's notifications, of
// which a device has written count.
func (nt *notifier) WakeNotified(proc int, count uint32) error {
	return nt.sendNotified(transport.Rank(proc), nt.rt.Me, count)
}

// sendNotified wakes a rank of another node that waits until the notifications from rank from, of
// this node, are count. A device has written the count.
func (nt *notifier) sendNotified(to, from transport.Rank, count uint32) error {
	body := binary.LittleEndian.AppendUint32(nil, uint32(from))
	return nt.rt.sendActive(to, msgNotified, binary.LittleEndian.AppendUint32(body, count))
}

// handleNotified handles the two messages of waiters. msgAwait: rank from is about to sleep until
// this node's rank to has notified it so often. msgNotified: a device has written the count, and
// rank to of this node may sleep.
func (nt *notifier) handleNotified(from, to transport.Rank, m transport.Msg) bool {
	switch {
	case m.Kind == msgAwait && len(m.Body) == 4:
		want := binary.LittleEndian.Uint32(m.Body)
		if nt.rt.notifications.RequestNotifyWake(nt.rt.Topo.Local(to), from, want) {
			go func() { // a message may have to wait for room
				defer log.Guard()
				if err := nt.sendNotified(from, to, want); err != nil {
					log.Warnf("notification of rank %d by rank %d: %v", from,
						to, err)
				}
			}()
		}
	case m.Kind == msgNotified && len(m.Body) == 8:
		source, want := binary.LittleEndian.Uint32(m.Body),
			binary.LittleEndian.Uint32(m.Body[4:])
		if int(source) >= nt.rt.N {
			return false
		}
		if local := nt.rt.Topo.Local(to); !nt.rt.notifications.WakeNotified(local,
			transport.Rank(source), want) {
			go nt.wakeWhenNotified(local, transport.Rank(source), want)
		}
	default:
		return false
	}
	return true
}

// wakeWhenNotified wakes a rank of this node when its count has been written: the device's write
// and the message of another process take different routes. A write that never arrives was lost
// with its connection, which is reported elsewhere.
func (nt *notifier) wakeWhenNotified(local int, source transport.Rank, want uint32) {
	defer log.Guard()
	for pause := 10 * time.Microsecond; pause < time.Minute; pause *= 2 {
		time.Sleep(pause)
		if nt.rt.notifications.WakeNotified(local, source, want) {
			return
		}
	}
}
