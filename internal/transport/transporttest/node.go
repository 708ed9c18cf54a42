// SPDX-License-Identifier: BSD-3-Clause

// A rank's share of a Cluster: memory, messages, notification, mutexes. Contracts are those of
// transport.Node; misuse that a real node could not survive panics here.
package transporttest

import (
	"fmt"
	"slices"
	"time"

	"libarmci/internal/transport"
)

type queuedMessage struct {
	from, to   int // world ranks
	tag        int64
	body       []byte
	totalBytes int
	reply      func([]byte) // of a Fake's messages
	waitsFor   []*op        // what must have taken effect before
	onHandled  func()       // called when it has been handled, under the Net's lock
}

// Node implements transport.Node.
type Node struct {
	c         *Cluster
	rank      int              // world rank
	nodeRanks []transport.Rank // ranks of the node
	nextFree  uintptr
	freed     []extent
	allocated map[uintptr]int64 // handed out: address -> bytes of whole pages
	published map[uintptr]int64 // published: address -> bytes
	// Private memory (private.go).
	exposed       []extent
	foreignBytes  int64
	mostAllocated int64
	queue         []queuedMessage
	undelivered   int    // bytes delivered from other nodes since this rank last looked
	departures    []bool // every call of Leave
	// Of a machine, kept by its lowest rank:
	endClaimed bool // who prints has been found
	teamsInUse int  // slots in use
	world      *teamState
}

type extent struct {
	addr   uintptr
	nbytes int64
}

// Ranks are those that joined together.
func (n *Node) Ranks() []transport.Rank { return n.nodeRanks }

// Self is my place among them.
func (n *Node) Self() int { return slices.Index(n.nodeRanks, transport.Rank(n.rank)) }

// localNode is the node of a rank of this machine.
func (n *Node) localNode(local int) *Node { return n.c.nodes[n.nodeRanks[local]] }

func wholePages(nbytes int64) int64 { return (nbytes + pageBytes - 1) &^ (pageBytes - 1) }

// Reuse hands freed memory of the same size out again, with what is in it.
func (n *Node) Reuse(nbytes int64) (addr uintptr, ok bool) {
	n.c.changeState(func() {
		size := wholePages(nbytes)
		if i := slices.IndexFunc(n.freed,
			func(e extent) bool { return e.nbytes == size }); i >= 0 {
			addr, ok = n.freed[i].addr, true
			n.freed = slices.Delete(n.freed, i, i+1)
			n.recordAllocation(addr, size)
		}
	})
	return addr, ok
}

func (n *Node) recordAllocation(addr uintptr, size int64) {
	n.allocated[addr] = size
	n.mostAllocated = max(n.mostAllocated, sumBytes(n.allocated))
}

func sumBytes(m map[uintptr]int64) (sum int64) {
	for _, b := range m {
		sum += b
	}
	return sum
}

// Room refuses more than a slice has left.
func (n *Node) Room(nbytes int64) error {
	if err := n.c.injectedFault("room", n.rank); err != nil {
		return err
	}
	if nbytes > int64(len(n.nodeRanks))*sliceBytes {
		return fmt.Errorf("%w: the node has %d bytes", transport.ErrNoMemory,
			len(n.nodeRanks)*sliceBytes)
	}
	return nil
}

// GrowOnTouch is Grow: the memory of a Node is the heap's, which gets pages when it is touched.
func (n *Node) GrowOnTouch(nbytes int64) (addr uintptr, err error) { return n.Grow(nbytes) }

// Grow hands new memory out.
func (n *Node) Grow(nbytes int64) (addr uintptr, err error) {
	if err := n.c.injectedFault("grow", n.rank); err != nil {
		return 0, err
	}
	n.c.changeState(func() {
		size := wholePages(nbytes)
		if end := n.c.sliceBase(n.rank) + sliceBytes; uintptr(size) > end-n.nextFree {
			err = transport.ErrNoMemory
			return
		}
		addr = n.nextFree
		n.nextFree += uintptr(size)
		n.recordAllocation(addr, size)
	})
	return addr, err
}

// Return takes memory back; memory that was not handed out, or is still published, is a bug of the
// caller.
func (n *Node) Return(addr uintptr) {
	n.c.changeState(func() {
		size, ok := n.allocated[addr]
		if _, published := n.published[addr]; !ok || published {
			panic(fmt.Sprintf("rank %d returns %#x (handed out: %v, published: %v)",
				n.rank, addr, ok, published))
		}
		delete(n.allocated, addr)
		n.freed = append(n.freed, extent{addr, size})
	})
}

// Enter has nothing to do.
func (n *Node) Enter(uintptr, int64) {}

// Publish opens an allocation to all.
func (n *Node) Publish(addr uintptr, nbytes int64) error {
	if err := n.c.injectedFault("publish", n.rank); err != nil {
		return err
	}
	n.c.changeState(func() {
		if n.allocated[addr] < nbytes {
			panic(fmt.Sprintf("rank %d publishes %d bytes at %#x of %d", n.rank, nbytes,
				addr, n.allocated[addr]))
		}
		n.published[addr] = nbytes
	})
	return nil
}

// Withdraw closes it.
func (n *Node) Withdraw(addr uintptr) (err error) {
	n.c.changeState(func() {
		if _, ok := n.published[addr]; !ok {
			err = transport.ErrBadAddr
		}
		delete(n.published, addr)
	})
	return err
}

// Owns looks an address up.
func (n *Node) Owns(local int, addr uintptr, nbytes int64) (yes bool) {
	n.c.changeState(func() {
		for lo, size := range n.localNode(local).published {
			yes = yes || nbytes >= 0 && addr >= lo && addr < lo+uintptr(size) &&
				nbytes <= int64(lo)+size-int64(addr)
		}
		yes = yes || n.localNode(local).isExposed(addr, nbytes)
	})
	return yes
}

// Inside tells arena addresses from others.
func (n *Node) Inside(addr uintptr) bool {
	rank := transport.Rank((addr - n.c.base) / sliceBytes)
	return addr >= n.c.base && slices.Contains(n.nodeRanks, rank)
}

// Arena is that of all ranks of the cluster.
func (n *Node) Arena() (uintptr, int64) { return n.c.base, int64(n.c.N) * sliceBytes }

// Extent looks in all slices.
func (n *Node) Extent(addr uintptr) (lo uintptr, nbytes int64) {
	n.c.changeState(func() {
		for _, other := range n.c.nodes {
			for at, size := range other.published {
				if addr >= at && addr < at+uintptr(size) {
					lo, nbytes = at, size
				}
			}
		}
	})
	return lo, nbytes
}

// DeviceLocks: nobody accumulates without messages.
func (n *Node) DeviceLocks() (uintptr, int) { return 0, 0 }

// Declare keeps the piece in mind.
func (n *Node) Declare(addr uintptr, nbytes int64) bool {
	n.c.changeState(func() { n.c.declared = append(n.c.declared, declared{addr, nbytes}) })
	return true
}

// Declared looks it up.
func (n *Node) Declared(addr uintptr) (lo uintptr, nbytes int64) {
	n.c.changeState(func() {
		for _, d := range n.c.declared {
			if addr >= d.lo && addr < d.lo+uintptr(d.n) {
				lo, nbytes = d.lo, d.n
			}
		}
	})
	return lo, nbytes
}

// KeepPages has nothing to do: a Cluster's memory stays where it is.
func (n *Node) KeepPages() {}

// MemoryUse counts bytes.
func (n *Node) MemoryUse() (live, kept, high int64) {
	n.c.changeState(func() {
		live, high = sumBytes(n.allocated), n.mostAllocated
		for _, e := range n.freed {
			kept += e.nbytes
		}
	})
	return live, kept, high
}

// Published is the number of allocations that are open to all.
func (n *Node) Published() (count int) {
	n.c.changeState(func() { count = len(n.published) })
	return count
}

// Send puts a copy into the receiver's mailbox.
func (n *Node) Send(to int, tag int64, body []byte) {
	n.c.changeState(func() {
		n.localNode(to).enqueue(queuedMessage{from: n.rank, tag: tag,
			body:       slices.Clone(body),
			totalBytes: len(body)})
	})
}

func (n *Node) enqueue(l queuedMessage) { n.queue = append(n.queue, l) }

// ringBytes is how much may be delivered from other nodes to a rank that does not look.
const ringBytes = 40 << 10

// Deliver has as much room as a real node would.
func (n *Node) Deliver(to int, from transport.Rank, tag, total int64, body []byte,
	wait bool) (done bool) {
	l := queuedMessage{from: int(from), tag: tag, body: slices.Clone(body),
		totalBytes: int(total)}
	dest := n.localNode(to)
	try := func() bool {
		if done = dest == n || dest.undelivered == 0 ||
			dest.undelivered+len(body) <= ringBytes; done {
			dest.enqueue(l)
			dest.undelivered += len(body)
		}
		return done || !wait
	}
	n.c.waitUntil(try)
	n.c.changeState(func() {})
	return done
}

// Recv takes the oldest letter that fits. A rank that waits here makes room for what comes.
func (n *Node) Recv(from transport.Rank, tag int64, body []byte) (got transport.Received,
	err error) {
	n.c.waitUntil(func() bool {
		if n.undelivered > 0 {
			n.undelivered = 0
			n.c.changed.Broadcast()
		}
		i := slices.IndexFunc(n.queue, func(l queuedMessage) bool {
			return l.tag == tag && (from < 0 || l.from == int(from))
		})
		if i < 0 {
			return false
		}
		l := n.queue[i]
		got = transport.Received{From: transport.Rank(l.from), Bytes: len(l.body),
			Total: l.totalBytes}
		if l.totalBytes > len(body) {
			err = transport.ErrTooLong
			return true
		}
		copy(body, l.body)
		n.queue = slices.Delete(n.queue, i, i+1)
		return true
	})
	return got, err
}

// SetBacklogged: no C delivers.
func (n *Node) SetBacklogged(int, bool) {}

// Arrived looks for a letter.
func (n *Node) Arrived(from transport.Rank, tag int64) (yes bool) {
	n.c.changeState(func() {
		yes = slices.ContainsFunc(n.queue, func(l queuedMessage) bool {
			return l.tag == tag && (from < 0 || l.from == int(from))
		})
	})
	return yes
}

// Notify raises a counter.
func (n *Node) Notify(to int, from transport.Rank) (count uint32) {
	n.c.changeState(func() {
		key := [2]int{n.localNode(to).rank, int(from)}
		n.c.notifyCounts[key]++
		count = n.c.notifyCounts[key]
	})
	return count
}

// Counters: no device writes them.
func (n *Node) Counters() (lo uintptr, bytes int64) { return 0, 0 }

// NotifySent: nobody asks.
func (n *Node) NotifySent(transport.Rank, uint32) bool { return false }

// ReceiveBy: waiters leave it to the data servers.
func (n *Node) ReceiveBy(transport.Incoming) {}

// NotifyAsk: no device writes counters.
func (n *Node) NotifyAsk(int, transport.Rank, uint32) bool { return false }

// Notified does nothing.
func (n *Node) Notified(int, transport.Rank, uint32) bool { return true }

// NotifySoon looks once.
func (n *Node) NotifySoon(from transport.Rank, want uint32) bool {
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	return int32(n.c.notifyCounts[[2]int{n.rank, int(from)}]-want) >= 0
}

// NotifyWait waits for a counter.
func (n *Node) NotifyWait(from transport.Rank, want uint32) (got uint32) {
	n.c.waitUntil(func() bool {
		got = n.c.notifyCounts[[2]int{n.rank, int(from)}]
		return int32(got-want) >= 0
	})
	return got
}

// Ending makes no difference: nobody waits in vain here.
func (n *Node) Ending(bool) {}

// Leave is noted.
func (n *Node) Leave(clean bool) {
	n.c.changeState(func() { n.departures = append(n.departures, clean) })
}

// Left lists the calls of Leave.
func (n *Node) Left() (calls []bool) {
	n.c.changeState(func() { calls = slices.Clone(n.departures) })
	return calls
}

// Exited looks for a rank that has left without finalising.
func (n *Node) Exited() (yes bool) {
	n.c.changeState(func() {
		for _, r := range n.nodeRanks {
			yes = yes || slices.Contains(n.c.nodes[r].departures, false)
		}
	})
	return yes
}

// ClaimMachine is true: this node is the only one of its machine.
func (n *Node) ClaimMachine() bool { return true }

// Settle makes no difference: there is nothing beside the ranks that prints.
func (n *Node) Settle() {}

// InquiriesAt is the leader of the node, if the cluster is to answer there.
func (n *Node) InquiriesAt() []byte {
	if n.c.Known == nil {
		return nil
	}
	return []byte{byte(n.nodeRanks[0])}
}

// Known asks the cluster.
func (n *Node) Known(at []byte, _ time.Duration) bool { return n.c.Known(transport.Rank(at[0])) }

// ClaimEnd is true once per machine.
func (n *Node) ClaimEnd() (first bool) {
	n.c.changeState(func() {
		first, n.localNode(0).endClaimed = !n.localNode(0).endClaimed,
			true
	})
	return first
}

var _ transport.Node = (*Node)(nil)

// declared is memory for atomics of devices.
type declared struct {
	lo uintptr
	n  int64
}
