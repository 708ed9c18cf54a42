// SPDX-License-Identifier: BSD-3-Clause

// Datagrams: qp.Datagrams by an unreliable queue pair. Its number and its port are its address.
package verbs

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"libarmci/internal/rdma/qp"
)

// routeHeader is the global route header, before every received datagram.
const routeHeader = 40

// datagrams is an unreliable queue pair with its completion queue.
type datagrams struct {
	d         *Device
	cq        *Completions
	pair      *Pair
	mu        sync.Mutex          // guards addresses
	addresses map[uint64]*Address // by id of the datagram that was last sent to the address
}

// datagramAddress is the contents of a qp.Address.
type datagramAddress struct {
	Pair uint32
	LID  uint16
	_    uint16
	GID  [16]byte // zero: by LID
}

// NewDatagrams makes a queue pair that receives and sends so many at a time.
func (d *Device) NewDatagrams(buffers int) (qp.Datagrams, error) {
	cq, err := d.completions(2 * buffers)
	if err != nil {
		return nil, err
	}
	g := &datagrams{d: d, cq: cq, addresses: map[uint64]*Address{}}
	if g.pair, err = d.domain.NewPair(Caps{Send: buffers, Receive: buffers, Pieces: 1, From: cq,
		To: cq, Datagram: true}); err == nil {
		err = g.pair.OpenDatagrams(d.number)
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// Address is where this process receives datagrams.
func (g *datagrams) Address() (a qp.Address) {
	mine := &datagramAddress{Pair: g.pair.Number, LID: g.d.State.LID, GID: g.d.address()}
	if _, err := binary.Encode(a[:], binary.LittleEndian, mine); err != nil {
		panic(err) // it does not fit
	}
	return a
}

// Header is the length of the route header before a message.
func (g *datagrams) Header() int { return routeHeader }

// PostReceive posts a receive buffer.
func (g *datagrams) PostReceive(id uint64, piece qp.Data) error {
	return g.pair.Receive([]uint64{id}, []qp.Data{piece})
}

// Send sends a piece of registered memory. It keeps the address until the id is used again.
func (g *datagrams) Send(id uint64, piece qp.Data, to *qp.Address) error {
	var at datagramAddress
	if _, err := binary.Decode(to[:], binary.LittleEndian, &at); err != nil {
		return err
	}
	ah, err := g.d.domain.NewAddress(g.d.path(at.LID, at.GID))
	if err != nil {
		return err
	}
	g.mu.Lock()
	old := g.addresses[id]
	g.addresses[id] = ah
	g.mu.Unlock()
	old.Close()
	return g.pair.SendDatagram(id, piece, ah, at.Pair)
}

// WaitCompletions is that of qp.Datagrams.
func (g *datagrams) WaitCompletions(out []qp.Completion, wake int, limit time.Duration) (
	n int, rang bool, err error) {
	return g.cq.WaitCompletions(out, wake, limit)
}

// Close destroys the queue pair and the addresses.
func (g *datagrams) Close() error {
	err := g.pair.Close()
	for _, ah := range g.addresses {
		err = errors.Join(err, ah.Close())
	}
	return errors.Join(err, g.cq.Close())
}
