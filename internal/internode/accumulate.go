// SPDX-License-Identifier: BSD-3-Clause

// Accumulates of any operator, and compare-and-swap, at the origin: all are frames of kindAcc, so
// those of one origin at one target take effect in the order of their calls. post.go posts those
// of ARMCI, which are sums with a scale.
package internode

import (
	"runtime"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// maxFetch bounds the bytes that one frame fetches: the server holds them until they are sent.
const maxFetch = int64(len(piece{}))

// Update sends the elements of an update to the node's server, which changes the memory. It locks
// the target's mu while it posts.
func (t *Transport) Update(peer transport.Peer, u *transport.Update) error {
	defer runtime.KeepAlive(u) // cursors keep no memory alive
	n := u.Bytes()
	if n == 0 || u.Op == kernel.OpNoOp && u.Old == nil {
		u.Finish(nil)
		return nil
	}
	g, err := t.targetOf(peer)
	if err != nil {
		return err
	}
	h := header{kind: kindAcc, op: uint8(u.Op), what: uint8(u.Type),
		rank: uint32(t.routes.peers[peer].Rank)}
	if err = g.lockConnected(); err != nil {
		return err
	}
	f := g.tx.buf.xfer
	f.resetUpdate(h, u)
	return f.postUpdate(g, u.Old, n, u.Done)
}

// CompareSwap has the node's server compare and swap. It locks the target's mu while it posts.
func (t *Transport) CompareSwap(peer transport.Peer, c *transport.CompareSwap) error {
	defer runtime.KeepAlive(c)
	g, err := t.targetOf(peer)
	if err != nil {
		return err
	}
	h := header{kind: kindAcc, op: opCompareSwap, what: uint8(kernel.Bytes),
		rank: uint32(t.routes.peers[peer].Rank)}
	if err = g.lockConnected(); err != nil {
		return err
	}
	n, f := int64(len(c.Value)), g.tx.buf.xfer
	f.xfer, f.h, f.later, f.grain = nil, h, false, len(c.Value)
	f.setOperand(c.Compare, operandBytes)
	f.local.SetContiguous(addressOf(c.Value), n)
	f.remote.SetContiguous(c.Addr, n)
	return f.postUpdate(g, pointerTo(c.Old), n, nil)
}

// resetUpdate makes f a transfer of the elements of an update.
func (f *transfer) resetUpdate(h header, u *transport.Update) {
	f.xfer, f.h, f.later, f.grain = nil, h, u.Done != nil, kernel.UpdateBytes(u.Type)
	f.setOperand(nil, 0)
	groups, n := appendGroups(f.vectors[1][:0], u.Runs)
	f.vectors[1] = groups
	f.remote.SetGroups(groups, n)
	if u.Op == kernel.OpNoOp {
		f.local.SetContiguous(0, 0)
	} else {
		f.local.SetContiguous(uintptr(u.Data), n)
	}
}

// appendGroups appends runs of memory, of n bytes in all. Equal ones at a constant distance become
// one group.
func appendGroups(list []kernel.Group, runs []kernel.Segment) (groups []kernel.Group, n int64) {
	const most = 1 << 31 // bytes of a group, and of its step
	for _, r := range runs {
		n += r.Bytes
		if r.Bytes == 0 {
			continue
		}
		if k := len(list) - 1; k >= 0 && int64(list[k].Bytes) == r.Bytes &&
			r.Bytes < most/int64(list[k].Count+1) {
			g := &list[k]
			step := int64(r.Addr - g.Addr)
			if g.Count > 1 && step == g.Step*int64(g.Count) ||
				g.Count == 1 && step > -most && step < most {
				g.Step, g.Count = step/int64(g.Count), g.Count+1
				continue
			}
		}
		list = append(list, kernel.Group{Addr: r.Addr, Count: 1, Bytes: int(r.Bytes)})
	}
	return list, n
}

// postUpdate sends the frames of an update of n bytes. If old is not nil, the target's elements
// before the update are fetched to it, and the call waits for them unless done is set. The caller
// holds the target's mu, and postUpdate unlocks it.
func (f *transfer) postUpdate(g *target, old unsafe.Pointer, n int64, done func(error)) error {
	var r *request
	var err error
	if old != nil {
		var replied func([]byte, error)
		if done != nil {
			replied = func(_ []byte, err error) {
				done(err)
				runtime.KeepAlive(old)
			}
		}
		if r, err = g.openAnswered(kindData, replied); err == nil {
			r.dest.cursor.SetContiguous(uintptr(old), n)
		}
	}
	if err == nil {
		err = f.postFrames(g, n, r)
	}
	g.mu.Unlock()
	switch {
	case r == nil:
		if err == nil && done != nil {
			done(nil)
		}
		return err
	case done != nil:
		p := r.poller
		r.finishPart(err)
		p.requestUnattended()
		return nil
	}
	r.finishPart(err)
	_, err = r.wait()
	return err
}
