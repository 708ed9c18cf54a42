// SPDX-License-Identifier: BSD-3-Clause

// Datagrams by an endpoint of their own. The provider connects to another endpoint when the first
// datagram is sent there. It has no room for that until it is connected: the datagram waits here.
package ofi

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/sys"
)

// datagrams implements qp.Datagrams. One thread calls Sleep, others may call Send.
type datagrams struct {
	device     *device
	endpoint   *libfabric.Endpoint
	slots      slots
	requestIDs []uint64 // by slot
	name       []byte

	mu           sync.Mutex // guards the rest
	peers        map[qp.Address]libfabric.Address
	waitingSends []libfabric.Request
	failedIDs    []uint64 // of datagrams that could not be posted
	sleeperFD    int      // descriptor that ends Sleep; -1: none
}

// NewDatagrams makes an endpoint that receives and sends so many at a time.
func (d *device) NewDatagrams(buffers int) (qp.Datagrams, error) {
	g := &datagrams{device: d, requestIDs: make([]uint64, 2*buffers),
		peers: map[qp.Address]libfabric.Address{}, sleeperFD: -1}
	err := g.slots.open(d, 2*buffers, contextBytes)
	if err == nil {
		g.endpoint, err = d.NewEndpoint(buffers, buffers)
	}
	if err == nil {
		g.name, err = g.endpoint.Name()
	}
	if err == nil && (len(g.name) == 0 || len(g.name) >= qp.AddressBytes) {
		err = fmt.Errorf("%s has names of %d bytes", d.Name(), len(g.name))
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// Address is the length of the endpoint's name, and the name.
func (g *datagrams) Address() (a qp.Address) {
	a[0] = uint8(len(g.name))
	copy(a[1:], g.name)
	return a
}

// Header is 0: there is nothing before a message.
func (g *datagrams) Header() int { return 0 }

// PostReceive gives a receive buffer to the provider.
func (g *datagrams) PostReceive(id uint64, piece qp.Data) error {
	at := g.slots.acquire(slotUser{})
	g.requestIDs[at] = id
	desc := g.device.descs.descOf(piece.Key)
	return g.endpoint.Receive(uintptr(piece.Addr), int(piece.Bytes), desc, g.slots.addr(at))
}

// Send sends a piece of registered memory. It locks mu.
func (g *datagrams) Send(id uint64, piece qp.Data, to *qp.Address) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	peer, known := g.peers[*to]
	if n := int(to[0]); !known {
		if n == 0 || n >= qp.AddressBytes {
			return errors.New("an address without a name")
		}
		g.device.recordProcess(to[1:][:n])
		var err error
		if peer, err = g.endpoint.Insert(to[1:][:n]); err != nil {
			return err
		}
		g.peers[*to] = peer
	}
	at := g.slots.acquire(slotUser{})
	if at < 0 {
		return errors.New("too many datagrams are on their way")
	}
	g.requestIDs[at] = id
	r := libfabric.Request{To: peer, Context: g.slots.addr(at), Op: uint32(qp.Send),
		Flags: libfabric.Completion, Pieces: 1}
	r.Piece[0] = libfabric.Piece{Addr: uintptr(piece.Addr), Bytes: uintptr(piece.Bytes),
		Desc: g.device.descs.descOf(piece.Key)}
	g.waitingSends = append(g.waitingSends, r)
	if g.postWaiting(); g.sleeperFD >= 0 && len(g.waitingSends)+len(g.failedIDs) > 0 {
		sys.EventFD(g.sleeperFD).Signal() // the thread in Sleep tries again
	}
	return nil
}

// postWaiting posts datagrams that wait, as far as there is room. The caller holds mu.
func (g *datagrams) postWaiting() {
	for len(g.waitingSends) > 0 {
		again, err := g.endpoint.Post(&g.waitingSends[0])
		if again {
			return
		}
		if err != nil {
			at, _ := g.slots.slotOf(g.waitingSends[0].Context)
			g.failedIDs = append(g.failedIDs, g.requestIDs[at])
			g.slots.releaseSlot(at)
		}
		g.waitingSends = g.waitingSends[1:]
	}
}

// WaitCompletions sleeps until there is a completion, wake is readable, or limit has passed.
func (g *datagrams) WaitCompletions(out []qp.Completion, wake int, limit time.Duration) (
	n int, rang bool, err error) {
	if n = g.beforeSleep(out, wake, &limit); n > 0 {
		return n, false, nil
	}
	done := make([]libfabric.Done, len(out))
	came, rang, _, err := g.endpoint.Sleep(done, wake, limit, maxIdleNap)
	if rang { // by Send, or by another thread of the caller
		sys.EventFD(wake).Drain()
	}
	for i := range done[:came] {
		if at, ok := g.slots.slotOf(done[i].Context); ok {
			out[n] = qp.Completion{ID: g.requestIDs[at], Status: int32(done[i].Err),
				Bytes: uint32(done[i].Bytes)}
			g.slots.releaseSlot(at)
			n++
		}
	}
	return n, rang, err
}

// beforeSleep posts datagrams that wait, and shortens the time limit if some still do. It returns
// completions of those that have failed. It locks mu.
func (g *datagrams) beforeSleep(out []qp.Completion, wake int, limit *time.Duration) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.postWaiting()
	g.sleeperFD = wake
	if len(g.waitingSends) > 0 && (*limit < 0 || *limit > time.Millisecond) {
		*limit = time.Millisecond
	}
	for ; n < len(g.failedIDs) && n < len(out); n++ {
		out[n] = qp.Completion{ID: g.failedIDs[n], Status: statusIO}
	}
	g.failedIDs = g.failedIDs[n:]
	return n
}

// idleNap is the longest nap of a thread that waits for datagrams.
const maxIdleNap = 5 * time.Millisecond

// Close closes the endpoint.
func (g *datagrams) Close() (err error) {
	if g.endpoint != nil {
		err = g.endpoint.Close()
	}
	g.slots.close()
	return err
}
