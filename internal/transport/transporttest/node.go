// SPDX-License-Identifier: BSD-3-Clause

// A rank's share of a Cluster: memory, messages, notification, mutexes. Contracts are those of transport.Node; misuse
// that a real node could not survive panics here.
package transporttest

import (
	"fmt"
	"slices"

	"libarmci/internal/transport"
)

type letter struct {
	from int
	tag  int64
	body []byte
}

// Node implements transport.Node.
type Node struct {
	c    *Cluster
	self int
	brk  uintptr
	free []extent
	live map[uintptr]int64 // handed out: address -> bytes of whole pages
	open map[uintptr]int64 // published: address -> bytes
	high int64
	mail []letter
	left []bool // every call of Leave
}

type extent struct {
	addr   uintptr
	nbytes int64
}

// Ranks are the numbers from 0.
func (n *Node) Ranks() []transport.Rank {
	all := make([]transport.Rank, n.c.N)
	for i := range all {
		all[i] = transport.Rank(i)
	}
	return all
}

// Self is the rank.
func (n *Node) Self() int { return n.self }

func wholePages(nbytes int64) int64 { return (nbytes + pageBytes - 1) &^ (pageBytes - 1) }

// Reuse hands freed memory of the same size out again, with what is in it.
func (n *Node) Reuse(nbytes int64) (addr uintptr, ok bool) {
	n.c.change(func() {
		size := wholePages(nbytes)
		if i := slices.IndexFunc(n.free, func(e extent) bool { return e.nbytes == size }); i >= 0 {
			addr, ok = n.free[i].addr, true
			n.free = slices.Delete(n.free, i, i+1)
			n.hand(addr, size)
		}
	})
	return addr, ok
}

func (n *Node) hand(addr uintptr, size int64) {
	n.live[addr] = size
	n.high = max(n.high, total(n.live))
}

func total(m map[uintptr]int64) (sum int64) {
	for _, b := range m {
		sum += b
	}
	return sum
}

// Room refuses more than a slice has left.
func (n *Node) Room(nbytes int64) error {
	if err := n.c.fail("room", n.self); err != nil {
		return err
	}
	if nbytes > int64(n.c.N)*sliceBytes {
		return fmt.Errorf("%w: the cluster has %d bytes", transport.ErrNoMemory, n.c.N*sliceBytes)
	}
	return nil
}

// Grow hands new memory out.
func (n *Node) Grow(nbytes int64) (addr uintptr, err error) {
	if err := n.c.fail("grow", n.self); err != nil {
		return 0, err
	}
	n.c.change(func() {
		size := wholePages(nbytes)
		if end := n.c.sliceBase(n.self) + sliceBytes; uintptr(size) > end-n.brk {
			err = transport.ErrNoMemory
			return
		}
		addr = n.brk
		n.brk += uintptr(size)
		n.hand(addr, size)
	})
	return addr, err
}

// Return takes memory back; memory that was not handed out, or is still published, is a bug of the caller.
func (n *Node) Return(addr uintptr) {
	n.c.change(func() {
		size, ok := n.live[addr]
		if _, published := n.open[addr]; !ok || published {
			panic(fmt.Sprintf("rank %d returns %#x (handed out: %v, published: %v)", n.self, addr, ok, published))
		}
		delete(n.live, addr)
		n.free = append(n.free, extent{addr, size})
	})
}

// Publish opens an allocation to all.
func (n *Node) Publish(addr uintptr, nbytes int64) error {
	if err := n.c.fail("publish", n.self); err != nil {
		return err
	}
	n.c.change(func() {
		if n.live[addr] < nbytes {
			panic(fmt.Sprintf("rank %d publishes %d bytes at %#x of %d", n.self, nbytes, addr, n.live[addr]))
		}
		n.open[addr] = nbytes
	})
	return nil
}

// Withdraw closes it.
func (n *Node) Withdraw(addr uintptr) (err error) {
	n.c.change(func() {
		if _, ok := n.open[addr]; !ok {
			err = transport.ErrBadAddr
		}
		delete(n.open, addr)
	})
	return err
}

// Owns looks an address up.
func (n *Node) Owns(local int, addr uintptr, nbytes int64) (yes bool) {
	n.c.change(func() {
		for lo, size := range n.c.nodes[local].open {
			yes = yes || nbytes >= 0 && addr >= lo && addr < lo+uintptr(size) && nbytes <= int64(lo)+size-int64(addr)
		}
	})
	return yes
}

// Inside tells arena addresses from others.
func (n *Node) Inside(addr uintptr) bool {
	return addr >= n.c.base && addr < n.c.base+uintptr(n.c.N*sliceBytes)
}

// MemoryUse counts bytes.
func (n *Node) MemoryUse() (live, kept, high int64) {
	n.c.change(func() {
		live, high = total(n.live), n.high
		for _, e := range n.free {
			kept += e.nbytes
		}
	})
	return live, kept, high
}

// Published is the number of allocations that are open to all.
func (n *Node) Published() (count int) {
	n.c.change(func() { count = len(n.open) })
	return count
}

// Send puts a copy into the receiver's mailbox.
func (n *Node) Send(to int, tag int64, body []byte) {
	n.c.change(func() {
		n.c.nodes[to].mail = append(n.c.nodes[to].mail, letter{n.self, tag, slices.Clone(body)})
	})
}

// Recv takes the oldest letter that fits.
func (n *Node) Recv(from int, tag int64, body []byte) (source, nbytes int, err error) {
	n.c.wait(func() bool {
		i := slices.IndexFunc(n.mail, func(l letter) bool { return l.tag == tag && (from < 0 || l.from == from) })
		if i < 0 {
			return false
		}
		l := n.mail[i]
		source, nbytes = l.from, len(l.body)
		if nbytes > len(body) {
			err = transport.ErrTooLong
			return true
		}
		copy(body, l.body)
		n.mail = slices.Delete(n.mail, i, i+1)
		return true
	})
	return source, nbytes, err
}

// Notify raises a counter.
func (n *Node) Notify(to int) (count uint32) {
	n.c.change(func() {
		n.c.counts[[2]int{to, n.self}]++
		count = n.c.counts[[2]int{to, n.self}]
	})
	return count
}

// NotifyWait waits for a counter.
func (n *Node) NotifyWait(from int, want uint32) (got uint32) {
	n.c.wait(func() bool {
		got = n.c.counts[[2]int{n.self, from}]
		return int32(got-want) >= 0
	})
	return got
}

// Ending makes no difference: nobody waits in vain here.
func (n *Node) Ending(bool) {}

// Leave is noted.
func (n *Node) Leave(clean bool) { n.c.change(func() { n.left = append(n.left, clean) }) }

// Left lists the calls of Leave.
func (n *Node) Left() (calls []bool) {
	n.c.change(func() { calls = slices.Clone(n.left) })
	return calls
}

// ClaimEnd is true once per cluster.
func (n *Node) ClaimEnd() (first bool) {
	n.c.change(func() { first, n.c.ended = !n.c.ended, true })
	return first
}

var _ transport.Node = (*Node)(nil)
