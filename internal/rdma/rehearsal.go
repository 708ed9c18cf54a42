// SPDX-License-Identifier: BSD-3-Clause

// What armci_info says of the cost model, without a job: measured between two ends in this process, over the device.
// A job measures for itself, over the fabric.
package rdma

import (
	"fmt"

	"libarmci/internal/transport"
)

// stage is a node without memory of its own.
type stage struct{ transport.Node }

func (stage) Hold()                           {}
func (stage) Inside(uintptr) bool             { return false }
func (stage) Owns(int, uintptr, int64) bool   { return false }
func (stage) Extent(uintptr) (uintptr, int64) { return 0, 0 }

// rehearse measures.
func rehearse(o Options, w *way) (c costs, err error) {
	o.Buffer, o.Spin = 0, nil
	o.WireInfo = transport.WireInfo{Nodes: [][]transport.Rank{{0}, {1}}, Hosts: []string{"here", "here"},
		Secret: []byte("rehearsal"), Node: stage{}, Lost: func(transport.Rank, string) {}}
	var ends [2]*Transport
	var peers []transport.PeerAddr
	for i := range ends {
		o.Me, o.MyNode = transport.Rank(i), i
		if ends[i], err = Open(o, w); err != nil {
			return c, err
		}
		defer ends[i].Close()
		peers = append(peers, transport.PeerAddr{Rank: o.Me, Addr: ends[i].Info().Addr})
	}
	for _, t := range ends {
		if err := t.Connect(peers); err != nil {
			return c, err
		}
	}
	wire := ends[0].wires[1]
	if err := wire.lock(); err != nil {
		return c, err
	}
	defer wire.mu.Unlock()
	wire.costs(false)
	return *wire.costs(true), nil
}

// modelNotes tells parameters and what follows from them.
func (o *Options) modelNotes(w *way) string {
	c, err := rehearse(*o, w)
	if err != nil {
		return fmt.Sprintf("cost model: %v", err)
	}
	how := "measured within this host"
	if o.Model != "" && o.Model != auto {
		how = "as it is set"
	}
	const rows = 64
	return fmt.Sprintf("cost model, %s: %v; so %d rows are left to the device from %d bytes a row on in a put and %d in a "+
		"get, memory is registered from %d bytes on, and the first piece of a transfer through buffers has %d",
		how, c, rows, c.fromRow(false, rows), c.fromRow(true, rows), c.lendFrom(), c.first())
}
