// SPDX-License-Identifier: BSD-3-Clause

// An instant that all ranks know by their own clocks, for traces of several nodes in one picture.
package core

import (
	"encoding/binary"
	"math"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

const (
	tagClock   = int64(4) << 33 // asking rank 0 for its clock, and the answer
	clockTrips = 8              // how often a node asks: the shortest trip is the most exact
)

// CommonClock returns the instant at which rank 0 called it, by the caller's clock, which all ranks
// of a node share. It is exact to half of the shortest of some trips to rank 0. Collective.
func (ts *twoSided) CommonClock(now func() int64) (int64, error) {
	// the clock of each node's leader, less that of rank 0; the last is the instant
	offsets := make([]int64, len(ts.rt.Topo.Nodes)+1)
	if ts.rt.Me == 0 {
		offsets[len(offsets)-1] = now()
	}
	var err error
	zero := ts.rt.Topo.Node(0)
	for node, ranks := range ts.rt.Topo.Nodes {
		switch {
		case node == zero:
		case ts.rt.Me == 0:
			err = ts.answerClock(ranks[0], now)
		case transport.Rank(ts.rt.Me) == ranks[0]:
			offsets[node], err = ts.askClock(now)
		}
	}
	ts.rt.groups.world.team.Allreduce(unsafe.Pointer(&offsets[0]), int64(len(offsets)),
		int(kernel.Long),
		int(kernel.Sum))
	return offsets[len(offsets)-1] + offsets[ts.rt.Topo.MyNode()], err
}

// answerClock sends rank 0's clock to the leader of a node, as often as askClock asks.
func (ts *twoSided) answerClock(leader transport.Rank, now func() int64) error {
	var body [8]byte
	for range clockTrips {
		if _, err := ts.rt.Recv(leader, tagClock, body[:]); err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(body[:], uint64(now()))
		if err := ts.rt.Send(leader, tagClock, body[:]); err != nil {
			return err
		}
	}
	return nil
}

// askClock returns how far the caller's clock is ahead of rank 0's, by the shortest round trip.
func (ts *twoSided) askClock(now func() int64) (offset int64, err error) {
	var body [8]byte
	best := int64(math.MaxInt64)
	for range clockTrips {
		before := now()
		if err = ts.rt.Send(0, tagClock, body[:]); err != nil {
			return 0, err
		}
		if _, err = ts.rt.Recv(0, tagClock, body[:]); err != nil {
			return 0, err
		}
		if trip := now() - before; trip < best {
			best, offset = trip,
				before+trip/2-int64(binary.LittleEndian.Uint64(body[:]))
		}
	}
	return offset, nil
}
