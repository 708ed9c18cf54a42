// SPDX-License-Identifier: BSD-3-Clause

// Notify counters of a Cluster, and the departure of its ranks.
package transporttest

import (
	"slices"
	"time"

	"libarmci/internal/transport"
)

// nodeCounters implements transport.Notifications. The counters are Cluster.state.notifyCounts.
type nodeCounters struct{ *member }

// Notify raises a counter.
func (n *nodeCounters) Notify(to int, from transport.Rank) (count uint32) {
	n.c.changeState(func() {
		key := [2]int{n.localNode(to).rank, int(from)}
		n.c.notifyCounts[key]++
		count = n.c.notifyCounts[key]
	})
	return count
}

// RecordNotifySent is false: no rank asks, because no device writes counters.
func (n *nodeCounters) RecordNotifySent(transport.Rank, uint32) bool { return false }

// ReceiveBy does nothing: only data servers receive.
func (n *nodeCounters) ReceiveBy(transport.Incoming) {}

// RequestNotifyWake is false: no device writes counters.
func (n *nodeCounters) RequestNotifyWake(int, transport.Rank, uint32) bool { return false }

// WakeNotified is true: Notify has woken the waiter.
func (n *nodeCounters) WakeNotified(int, transport.Rank, uint32) bool { return true }

// NotifySoon checks the counter once.
func (n *nodeCounters) NotifySoon(from transport.Rank, want uint32) bool {
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	return int32(n.c.notifyCounts[[2]int{n.rank, int(from)}]-want) >= 0
}

// NotifyWait blocks until the counter is large enough.
func (n *nodeCounters) NotifyWait(from transport.Rank, want uint32) (got uint32) {
	n.c.waitUntil(func() bool {
		got = n.c.notifyCounts[[2]int{n.rank, int(from)}]
		return int32(got-want) >= 0
	})
	return got
}

// nodeLiveness implements transport.Liveness. The cluster's lock guards its fields.
type nodeLiveness struct {
	*member
	departures []bool // the arguments of all calls of Leave
	endClaimed bool   // of a node's leader: a rank prints why the job ends
}

// AnnounceFinalBarrier does nothing: no rank of a Cluster is killed because it waits.
func (n *nodeLiveness) AnnounceFinalBarrier(bool) {}

// Leave records the call, for Left and Exited.
func (n *nodeLiveness) Leave(clean bool) {
	n.c.changeState(func() { n.departures = append(n.departures, clean) })
}

// Left lists the calls of Leave.
func (n *nodeLiveness) Left() (calls []bool) {
	n.c.changeState(func() { calls = slices.Clone(n.departures) })
	return calls
}

// Exited tells whether a rank of the node has called Leave(false).
func (n *nodeLiveness) Exited() (yes bool) {
	n.c.changeState(func() {
		for _, r := range n.nodeRanks {
			yes = yes || slices.Contains(n.c.nodes[r].departures, false)
		}
	})
	return yes
}

// ClaimMachineReport is true: this node is the only one of its machine.
func (n *nodeLiveness) ClaimMachineReport() bool { return true }

// MarkReported does nothing: only ranks print here.
func (n *nodeLiveness) MarkReported() {}

// InquiriesAt is the number of the node's leader, if Cluster.Known answers.
func (n *nodeLiveness) InquiriesAt() []byte {
	if n.c.Known == nil {
		return nil
	}
	return []byte{byte(n.nodeRanks[0])}
}

// AskCauseKnown asks Cluster.Known.
func (n *nodeLiveness) AskCauseKnown(at []byte, _ time.Duration) bool {
	return n.c.Known(transport.Rank(at[0]))
}

// ClaimNodeReport is true for the first call of a node.
func (n *nodeLiveness) ClaimNodeReport() (first bool) {
	n.c.changeState(func() {
		leader := n.localNode(0)
		first, leader.endClaimed = !leader.endClaimed, true
	})
	return first
}
