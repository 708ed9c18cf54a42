// SPDX-License-Identifier: BSD-3-Clause

// Events that one rank alone raises. Between nodes its device writes their counts, behind what it
// has stored there, which wakes no waiter. So the raiser keeps a record of each in arena memory of
// its own node, where a waiter that is about to sleep asks for a wake-up message.
package core

import (
	"encoding/binary"
	"fmt"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// The bodies of messages. msgEventAsk: the record's address, the event's address, and the count
// that is waited for; its answer is one byte. msgEventTold: the event's address and its count.
const (
	eventAskBody  = 20
	eventToldBody = 12
	eventSleeps   = 0 // the waiter may sleep: msgEventTold will wake it
	eventComes    = 1 // the count has been written: it has arrived, or is about to
)

// EventWords tells whether a device writes the counts of events on other nodes.
func (ec *eventCounters) EventWords() bool { return ec.rt.internode.wordWriter != nil }

// EventRaise raises an event of rank proc by one, behind all earlier stores of the caller there. No
// other rank raises that event, and one thread at a time does. record is an event in memory of the
// caller, zeroed like the event and used for nothing else. A fence waits for it.
func (ec *eventCounters) EventRaise(proc int, event, record uintptr) error {
	if err := ec.checkEvent(proc, event); err != nil {
		return err
	}
	if !ec.isEvent(ec.rt.Me, record) {
		return notSyncMemory("record", int(ec.rt.Me), record)
	}
	if err := ec.rt.fenceForMessage(proc); err != nil {
		return err
	}
	to, count := transport.Rank(proc), ec.rt.events.EventCount(record)+1
	if ec.rt.Topo.SameNode(to) {
		ec.rt.events.EventAdd(event, 1)
		ec.rt.events.RecordEventSent(record, count)
		return nil
	}
	err := ec.writeEventCount(to, event, count)
	ec.rt.traffic.countPosted(proc)
	if err == nil && ec.rt.events.RecordEventSent(record, count) {
		err = ec.WakeEventWaiters(proc, event, count)
	}
	if err == nil {
		err = ec.allowFastRaise(proc, event)
	}
	if err != nil {
		return fmt.Errorf("event of rank %d: %w", proc, err)
	}
	return nil
}

// unfencedStores is the number of stores without a fence after which EventRaise fences by itself.
const unfencedStores = 16

// allowFastRaise allows the C fast path to raise an event the next time. C does so only while all
// stores at the rank are its own or fenced. So it fences after many stores, for programs that never
// do.
func (ec *eventCounters) allowFastRaise(proc int, event uintptr) error {
	to, t := ec.rt.route(transport.Rank(proc)), &ec.rt.traffic[proc]
	if to.fast == nil {
		return nil
	}
	if e, found := ec.rt.regionManager.remote.findExtent(transport.Rank(proc), event); found {
		to.fast.AddRange(to.peer, event, e.lo, e.hi)
	}
	if t.Posted.Load()-t.Fenced.Load() < unfencedStores {
		return nil
	}
	return ec.rt.Fence(proc)
}

// writeEventCount has the device write a count, behind all stores to the rank; without a device the
// data server raises it by one.
func (ec *eventCounters) writeEventCount(to transport.Rank, event uintptr, count uint32) error {
	body := binary.LittleEndian.AppendUint64(make([]byte, 0, eventBody), uint64(event))
	m := transport.Msg{Kind: msgEventAdd, Body: binary.LittleEndian.AppendUint32(body, 1),
		Unhurried: true}
	dest := ec.rt.route(to)
	if dest.wordWriter == nil {
		return dest.tr.Send(dest.peer, m)
	}
	_, err := dest.wordWriter.WriteWord(dest.peer, event, count, m)
	return err
}

// WakeEventWaiters wakes the waiters of an event of another node after a device has written its
// count.
func (ec *eventCounters) WakeEventWaiters(proc int, event uintptr, count uint32) error {
	body := binary.LittleEndian.AppendUint64(make([]byte, 0, eventToldBody), uint64(event))
	return ec.rt.sendActive(transport.Rank(proc), msgEventTold,
		binary.LittleEndian.AppendUint32(body,
			count))
}

// EventAwait is EventWait for an event that rank proc alone raises, with that record.
func (ec *eventCounters) EventAwait(proc int, event, record uintptr, seen uint32, millis int,
	what string) (changed bool, err error) {
	if err := ec.rt.checkRank("proc", proc); err != nil {
		return false, err
	}
	raiser := transport.Rank(proc)
	if ec.rt.route(raiser).wordWriter == nil || millis == 0 {
		return ec.EventWait(event, seen, millis, what)
	}
	if changed, err = ec.EventWait(event, seen, 0, what); changed || err != nil {
		return changed, err
	}
	le := binary.LittleEndian
	body := le.AppendUint64(le.AppendUint64(make([]byte, 0, eventAskBody), uint64(record)),
		uint64(event))
	answer, err := ec.rt.callActive(raiser, msgEventAsk, le.AppendUint32(body, seen+1))
	if err != nil {
		return false, fmt.Errorf("event of rank %d: %w", proc, err)
	}
	if len(answer) != 1 {
		return false, fmt.Errorf("event of rank %d: the record is no memory of it: %w",
			proc, transport.ErrBadAddr)
	}
	if answer[0] == eventComes {
		return ec.awaitWrittenCount(event, seen, millis, what), nil
	}
	return ec.EventWait(event, seen, millis, what)
}

// awaitWrittenCount waits for a count that a device has written: it has arrived, or is about to.
// The count of a connection that is lost never arrives, which ends the job.
func (ec *eventCounters) awaitWrittenCount(event uintptr, seen uint32, millis int,
	what string) (changed bool) {
	for began := time.Now(); !ec.rt.events.EventWait(event, seen, 1, what); {
		if millis >= 0 && time.Since(began) >= time.Duration(millis)*time.Millisecond {
			return false
		}
	}
	return true
}

// handleEventAsk records that a waiter has to be woken by a message, unless the count has already
// been written; the answer says which. false: the message is malformed.
func (ec *eventCounters) handleEventAsk(from, to transport.Rank, m transport.Msg,
	reply func([]byte)) bool {
	if len(m.Body) != eventAskBody || reply == nil {
		return false
	}
	record, event := uintptr(binary.LittleEndian.Uint64(m.Body)),
		binary.LittleEndian.Uint64(m.Body[8:])
	switch {
	case !ec.isEvent(to, record):
		log.Errorf("rank %d waits for an event at %#x with a record at %#x, which is no "+
			"aligned memory of rank %d", from, event,
			record, to)
		reply(nil)
	case ec.rt.events.RequestEventWake(record, binary.LittleEndian.Uint32(m.Body[16:])):
		reply([]byte{eventComes})
	default:
		reply([]byte{eventSleeps})
	}
	return true
}

// handleEventTold wakes the waiters of an event that a device has written; false: the message is
// malformed.
func (ec *eventCounters) handleEventTold(to transport.Rank, m transport.Msg) bool {
	if len(m.Body) != eventToldBody {
		return false
	}
	event, count := uintptr(binary.LittleEndian.Uint64(m.Body)),
		binary.LittleEndian.Uint32(m.Body[8:])
	if ec.isEvent(to, event) && !ec.rt.events.WakeEventWaiters(event, count) &&
		ec.rt.twoSided.startTask() {
		go ec.wakeWhenWritten(to, event, count)
	}
	return true
}

// wakeWhenWritten wakes the waiters when the count has arrived: the device's write and the message
// take different routes. By then a waiter may have seen the count and freed the event.
func (ec *eventCounters) wakeWhenWritten(to transport.Rank, event uintptr, count uint32) {
	defer log.Guard()
	defer ec.rt.twoSided.tasks.Done()
	end := time.Now().Add(time.Minute)
	for pause := 10 * time.Microsecond; time.Now().Before(end) &&
		!ec.rt.twoSided.isFinalizing(); {
		time.Sleep(pause)
		pause = min(2*pause, 10*time.Millisecond)
		if !ec.isEvent(to, event) || ec.rt.events.WakeEventWaiters(event, count) {
			return
		}
	}
}
