// SPDX-License-Identifier: BSD-3-Clause

// Events: counters in arena memory of any rank, which others raise behind what they have stored there, and the ranks of its node
// wait for. Between nodes the rank's data server raises them.
package core

import (
	"encoding/binary"
	"fmt"

	"libarmci/internal/transport"
)

// The body of a message is the event's address and by how much to raise it. There is no answer.
const eventBody = 12

// EventAdd raises an event of rank proc by n, behind all earlier stores of the caller there. A fence waits for that.
func (r *Runtime) EventAdd(proc int, event uintptr, n uint32) error {
	if err := r.checkSync("event", proc, event, r.events.EventBytes()); err != nil {
		return err
	}
	if err := r.fenceForMessage(proc); err != nil {
		return err
	}
	to := transport.Rank(proc)
	if r.Topo.SameNode(to) {
		r.events.EventAdd(event, n)
		return nil
	}
	body := binary.LittleEndian.AppendUint64(make([]byte, 0, eventBody), uint64(event))
	if err := r.send(to, msgEventAdd, binary.LittleEndian.AppendUint32(body, n)); err != nil {
		return fmt.Errorf("event of rank %d: %w", proc, err)
	}
	r.traffic.posted(proc)
	return nil
}

// EventWait waits until the count of an event of this node differs from seen. what is the caller's function, for the report if
// that can never happen.
func (r *Runtime) EventWait(event uintptr, seen uint32, what string) {
	r.events.EventWait(event, seen, what)
}

// handleEventAdd raises an event for a rank of another node.
func (r *Runtime) handleEventAdd(to transport.Rank, m transport.Msg) bool {
	if len(m.Body) != eventBody {
		return false
	}
	event := uintptr(binary.LittleEndian.Uint64(m.Body))
	if !r.isShared(to, event, r.events.EventBytes()) {
		return false
	}
	r.events.EventAdd(event, binary.LittleEndian.Uint32(m.Body[8:]))
	return true
}
