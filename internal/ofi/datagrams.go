// SPDX-License-Identifier: BSD-3-Clause

// Datagrams by an endpoint of their own. The provider connects to another endpoint when the first
// one is sent there, and has no room for it until then: it waits here.
package ofi

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"libarmci/internal/eventfd"
	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/rdma/qp"
)

type datagrams struct {
	d     *device
	ep    *libfabric.Endpoint
	slots slots
	ids   []uint64 // by slot
	name  []byte

	mu      sync.Mutex
	peers   map[qp.Address]libfabric.Address
	waiting []libfabric.Request
	failed  []uint64 // that could not be posted
	wake    int      // descriptor that ends Sleep; -1: none
}

// NewDatagrams makes an endpoint that receives and sends so many at a time.
func (d *device) NewDatagrams(buffers int) (qp.Datagrams, error) {
	g := &datagrams{d: d, ids: make([]uint64, 2*buffers),
		peers: map[qp.Address]libfabric.Address{}, wake: -1}
	err := g.slots.open(d, 2*buffers, contextBytes)
	if err == nil {
		g.ep, err = d.NewEndpoint(buffers, buffers)
	}
	if err == nil {
		g.name, err = g.ep.Name()
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

// Address is the length of the endpoint's name, and that.
func (g *datagrams) Address() (a qp.Address) {
	a[0] = uint8(len(g.name))
	copy(a[1:], g.name)
	return a
}

// Header: nothing comes before a message.
func (g *datagrams) Header() int { return 0 }

// Offer offers a receive buffer.
func (g *datagrams) Offer(id uint64, piece qp.Data) error {
	at := g.slots.take(request{})
	g.ids[at] = id
	return g.ep.Receive(uintptr(piece.Addr), int(piece.Bytes), g.d.descs.of(piece.Key),
		g.slots.addr(at))
}

// Send sends a piece of registered memory.
func (g *datagrams) Send(id uint64, piece qp.Data, to *qp.Address) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	peer, known := g.peers[*to]
	if n := int(to[0]); !known {
		if n == 0 || n >= qp.AddressBytes {
			return errors.New("an address without a name")
		}
		g.d.meet(to[1:][:n])
		var err error
		if peer, err = g.ep.Insert(to[1:][:n]); err != nil {
			return err
		}
		g.peers[*to] = peer
	}
	at := g.slots.take(request{})
	if at < 0 {
		return errors.New("too many datagrams are on their way")
	}
	g.ids[at] = id
	r := libfabric.Request{To: peer, Context: g.slots.addr(at), Op: uint32(qp.Send),
		Flags: libfabric.Told, Pieces: 1}
	r.Piece[0] = libfabric.Piece{Addr: uintptr(piece.Addr), Bytes: uintptr(piece.Bytes),
		Desc: g.d.descs.of(piece.Key)}
	g.waiting = append(g.waiting, r)
	if g.push(); g.wake >= 0 && len(g.waiting)+len(g.failed) > 0 {
		eventfd.FD(g.wake).Ring() // the thread in Sleep tries again
	}
	return nil
}

// push sends what waits, as far as there is room. The caller has the lock.
func (g *datagrams) push() {
	for len(g.waiting) > 0 {
		again, err := g.ep.Post(&g.waiting[0])
		if again {
			return
		}
		if err != nil {
			at, _ := g.slots.at(g.waiting[0].Context)
			g.failed = append(g.failed, g.ids[at])
			g.slots.put(at)
		}
		g.waiting = g.waiting[1:]
	}
}

// Sleep sleeps until something is completed.
func (g *datagrams) Sleep(out []qp.Completion, wake int, limit time.Duration) (n int, rang bool,
	err error) {
	if n = g.prepare(out, wake, &limit); n > 0 {
		return n, false, nil
	}
	done := make([]libfabric.Done, len(out))
	came, rang, _, err := g.ep.Sleep(done, wake, limit, idleNap)
	if rang { // by Send, or by the caller, who looks why
		eventfd.FD(wake).Drain()
	}
	for i := range done[:came] {
		if at, ok := g.slots.at(done[i].Context); ok {
			out[n] = qp.Completion{ID: g.ids[at], Status: int32(done[i].Err),
				Bytes: uint32(done[i].Bytes)}
			g.slots.put(at)
			n++
		}
	}
	return n, rang, err
}

// prepare sends what waits, shortens the time limit if something still does, and tells of what has
// failed.
func (g *datagrams) prepare(out []qp.Completion, wake int, limit *time.Duration) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.push()
	if g.wake = wake; len(g.waiting) > 0 && (*limit < 0 || *limit > time.Millisecond) {
		*limit = time.Millisecond
	}
	for ; n < len(g.failed) && n < len(out); n++ {
		out[n] = qp.Completion{ID: g.failed[n], Status: statusIO}
	}
	g.failed = g.failed[n:]
	return n
}

// idleNap is the longest nap of a thread that waits for datagrams.
const idleNap = 5 * time.Millisecond

// Close closes the endpoint.
func (g *datagrams) Close() (err error) {
	if g.ep != nil {
		err = g.ep.Close()
	}
	g.slots.close()
	return err
}
