// SPDX-License-Identifier: BSD-3-Clause

//go:build simulation

// Shapes of the transfers of a simulated client.
package internode

import "libarmci/internal/transport"

// shape draws a transfer between the client's buffer and a slot. both sides have the same places,
// which each returns.
func (c *simClient) shape(peer *simPeer, i int) (x *transport.Xfer, places [][2]int) {
	local, remote := simAddr(c.p.rank, c.buffer(peer, i)), simAddr(peer.rank, peer.slots[i].at)
	size := c.j.slot
	switch c.rnd.IntN(4) {
	case 0: // rows
		rows := 1 + c.rnd.IntN(4)
		pitch := size / rows
		n := 1 + c.rnd.IntN(pitch)
		for r := range rows {
			places = append(places, [2]int{r * pitch, n})
		}
		x = simPlain(local, remote, n)
		x.Count = append(x.Count, int32(rows))
		x.Local.Stride, x.Remote.Stride = []int32{int32(pitch)}, []int32{int32(pitch)}
	case 1: // segments
		x = &transport.Xfer{}
		n := 1 + c.rnd.IntN(size/8)
		v := transport.Segments{Bytes: n}
		for at := c.rnd.IntN(n); at+n <= size; at += n + c.rnd.IntN(size/3) {
			v.Local, v.Remote = append(v.Local, local+uintptr(at)),
				append(v.Remote, remote+uintptr(at))
			places = append(places, [2]int{at, n})
		}
		x.Vector = []transport.Segments{v}
	default:
		at := c.rnd.IntN(size)
		n := 1 + c.rnd.IntN(size-at)
		x = simPlain(local+uintptr(at), remote+uintptr(at), n)
		places = [][2]int{{at, n}}
	}
	return x, places
}

// simPlain is a contiguous transfer.
func simPlain(local, remote uintptr, n int) *transport.Xfer {
	return &transport.Xfer{Local: transport.Section{Base: local},
		Remote: transport.Section{Base: remote}, Count: []int32{int32(n)}}
}
