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
	c, err := calibrate(d, o)
	switch {
	case err != nil:
		return fmt.Sprintf("%s; cost model: %v", text, err)
	case c == nil:
		return text
	}
	how := "measured within this host"
	if o.Model != "" && o.Model != transport.Auto {
		how = "as it is set"
	}
	const rows = 64
	return fmt.Sprintf("%s; cost model, %s: %v; so %d rows are left to the device from %d bytes a row on in a put and %d in a "+
		"get, memory is registered from %d bytes on, and the first piece of a transfer through buffers has %d",
		text, how, c, rows, c.fromRow(false, rows), c.fromRow(true, rows), c.lendFrom(), c.first())
}

// fromRow is the length of rows from which on the device does better with them, as a patch of that many of them.
func (c *costs) fromRow(get bool, rows int64) int64 {
	row := int64(8)
	for row < 1<<20 && c.choose(workload{get: get, requests: rows, bytes: rows * row}) == transport.ByPacking {
		row += max(8, row/8&^7)
	}
	return row
}

// noMemory is a node without memory of its own.
type noMemory struct{}

func (noMemory) KeepPages()                        {}
func (noMemory) Inside(uintptr) bool               { return false }
func (noMemory) Owns(int, uintptr, int64) bool     { return false }
func (noMemory) Extent(uintptr) (uintptr, int64)   { return 0, 0 }
func (noMemory) DeviceLocks() (uintptr, int)       { return 0, 0 }
func (noMemory) Declared(uintptr) (uintptr, int64) { return 0, 0 }

// calibrate measures the cost model; nil for a fabric that needs none.
func calibrate(d transport.Driver, o Options) (*costs, error) {
	o.Buffer, o.Looks = 0, nil
	o.OpenInfo = transport.OpenInfo{Nodes: [][]transport.Rank{{0}, {1}}, Hosts: []string{"here", "here"},
		Secret: []byte("calibration"), Node: noMemory{}, Lost: func(transport.Rank, string) {}}
	if d.Hint != nil {
		o.Hints = [][]byte{d.Hint(), d.Hint()}
	}
	var ends [2]*Transport
	var peers []transport.PeerAddr
	for i := range ends {
		o.Me, o.MyNode = transport.Rank(i), i
		end, err := Open(d, o)
		if err != nil {
			return nil, err
		}
		defer end.Close()
		if end.direct == nil {
			return nil, nil
		}
		ends[i] = end
		peers = append(peers, transport.PeerAddr{Rank: o.Me, Addr: end.info.Addr})
	}
	for _, t := range ends {
		if err := t.Connect(peers); err != nil {
			return nil, err
		}
	}
	g := ends[0].targets[1]
	if err := g.lock(); err != nil {
		return nil, err
	}
	defer g.mu.Unlock()
	g.costs(false)
	return g.costs(true), nil
}
