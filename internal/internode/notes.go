// SPDX-License-Identifier: BSD-3-Clause

// What armci_info says of a transport: what the fabric tells, and the cost model, measured between two ends in this process.
// A job measures for itself, over the network.
package internode

import (
	"fmt"

	"libarmci/internal/transport"
)

// notes tells what would be used.
func notes(d transport.Driver, o Options) string {
	text := d.Notes()
	if c, ok, err := calibrate(d, o); err != nil {
		text += fmt.Sprintf("; cost model: %v", err)
	} else if ok {
		text += "; " + c.notes(o.Model != "" && o.Model != auto)
	}
	return text
}

// noMemory is a node without memory of its own.
type noMemory struct{}

func (noMemory) KeepPages()                        {}
func (noMemory) Inside(uintptr) bool               { return false }
func (noMemory) Owns(int, uintptr, int64) bool     { return false }
func (noMemory) Extent(uintptr) (uintptr, int64)   { return 0, 0 }
func (noMemory) DeviceLocks() (uintptr, int)       { return 0, 0 }
func (noMemory) Declared(uintptr) (uintptr, int64) { return 0, 0 }

// calibrate measures the cost model; ok is false for a fabric that needs none.
func calibrate(d transport.Driver, o Options) (c costs, ok bool, err error) {
	o.Buffer, o.Looks = 0, nil
	o.OpenInfo = transport.OpenInfo{Nodes: [][]transport.Rank{{0}, {1}}, Hosts: []string{"here", "here"},
		Secret: []byte("calibration"), Node: noMemory{}, Lost: func(transport.Rank, string) {}}
	var ends [2]*Transport
	var peers []transport.PeerAddr
	for i := range ends {
		o.Me, o.MyNode = transport.Rank(i), i
		if ends[i], err = Open(d, o); err != nil {
			return c, false, err
		}
		defer ends[i].Close()
		if ends[i].direct == nil {
			return c, false, nil
		}
		peers = append(peers, transport.PeerAddr{Rank: o.Me, Addr: ends[i].info.Addr})
	}
	for _, t := range ends {
		if err := t.Connect(peers); err != nil {
			return c, false, err
		}
	}
	g := ends[0].targets[1]
	if err := g.lock(); err != nil {
		return c, false, err
	}
	defer g.mu.Unlock()
	g.costs(false)
	return *g.costs(true), true, nil
}

// notes tells the parameters and what follows from them.
func (c *costs) notes(set bool) string {
	how := "measured within this host"
	if set {
		how = "as it is set"
	}
	const rows = 64
	return fmt.Sprintf("cost model, %s: %v; so %d rows are left to the device from %d bytes a row on in a put and %d in a "+
		"get, memory is registered from %d bytes on, and the first piece of a transfer through buffers has %d",
		how, c, rows, c.fromRow(false, rows), c.fromRow(true, rows), c.lendFrom(), c.first())
}
