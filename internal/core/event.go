// SPDX-License-Identifier: BSD-3-Clause

// Events: counters in arena memory of any rank, which others raise behind what they have stored
// there, and the ranks of its node wait for. Between nodes the rank's data server raises them.
package core

import (
	"encoding/binary"
	"fmt"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// The body of a message is the event's address and by how much to raise it. There is no answer.
const eventBody = 12

// eventCounters are the events, as their raisers and waiters use them.
type eventCounters struct{ rt *Runtime }

// EventAdd raises an event of rank proc by n, behind all earlier stores of the caller there. A
// fence waits for that.
func (ec *eventCounters) EventAdd(proc int, event uintptr, n uint32) error {
	if err := ec.checkEvent(proc, event); err != nil {
		return err
	}
	if err := ec.rt.fenceForMessage(proc); err != nil {
		return err
	}
	to := transport.Rank(proc)
	if ec.rt.Topo.SameNode(to) {
		ec.rt.events.EventAdd(event, n)
		return nil
	}
	body := binary.LittleEndian.AppendUint64(make([]byte, 0, eventBody), uint64(event))
	if err := ec.rt.sendActive(to, msgEventAdd, binary.LittleEndian.AppendUint32(body,
		n)); err != nil {
		return fmt.Errorf("event of rank %d: %w", proc, err)
	}
	ec.rt.traffic.countPosted(proc)
	return nil
}

// eventAlign is how events are aligned: their two words are changed one by one.
const eventAlign = 4

// isEvent tells whether an event may be at an address of a rank of this node.
func (ec *eventCounters) isEvent(rank transport.Rank, addr uintptr) bool {
	return ec.rt.regionManager.isAlignedArena(rank, addr, ec.rt.events.EventBytes(), eventAlign)
}

// checkEvent refuses addresses that are known to be wrong. Memory of another node's rank is also
// checked by its server.
func (ec *eventCounters) checkEvent(proc int, addr uintptr) error {
	if err := ec.rt.checkRank("proc", proc); err != nil {
		return err
	}
	rank := transport.Rank(proc)
	if addr == 0 {
		return argErr(CodeArgument, "event", "null pointer")
	}
	if addr%eventAlign != 0 || ec.rt.Topo.SameNode(rank) && !ec.isEvent(rank, addr) {
		return notSyncMemory("event", proc, addr)
	}
	_, err := ec.rt.checkRemote("event", proc, addr, ec.rt.events.EventBytes())
	return err
}

// EventWait waits until the count of an event of this node differs from seen; or, unless millis is
// negative, for so long, and then changed may be false. what is the caller's function, for the
// report if that can never happen.
func (ec *eventCounters) EventWait(event uintptr, seen uint32, millis int,
	what string) (changed bool,
	err error) {
	lo, n := ec.rt.Memory.RegionAt(event)
	if bytes := uintptr(ec.rt.events.EventBytes()); event%eventAlign != 0 || n == 0 ||
		event-lo+bytes > uintptr(n) {
		return false, argErr(CodeAddress, "event", "%#x is no aligned memory of this node",
			event)
	}
	ec.rt.coalescing.postCoalesced(everyRank)
	return ec.rt.events.EventWait(event, seen, millis, what), nil
}

// handleEventAdd raises an event for a rank of another node; false: the message is malformed.
func (ec *eventCounters) handleEventAdd(from, to transport.Rank, m transport.Msg) bool {
	if len(m.Body) != eventBody {
		return false
	}
	event := uintptr(binary.LittleEndian.Uint64(m.Body))
	if !ec.isEvent(to, event) {
		log.Errorf("rank %d has raised an event at %#x of rank %d, which is no aligned "+
			"memory of it: nothing happens", from, event, to)
		return true
	}
	ec.rt.events.EventAdd(event, binary.LittleEndian.Uint32(m.Body[8:]))
	ec.rt.Memory.RecordStore(ec.rt.Topo.Local(to))
	return true
}
