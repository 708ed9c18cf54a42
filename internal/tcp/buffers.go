// SPDX-License-Identifier: BSD-3-Clause

// What is lent: the buffers that origins send through, and what it takes to serve a connection. Both are lent for the
// shortest possible time, so that their number follows what goes on at the same time and not the number of connections;
// and there are never more than the setting allows. An origin that has to send waits for a buffer. Nobody who has one waits
// for another, or for more than the other side to read: so all come back.
package tcp

import (
	"sync"
	"sync/atomic"
)

const (
	bufferBytes  = 64 << 10
	leastBuffers = 4 // so that nothing stands still
	leastSpaces  = 3 // the loop's, and two more
)

func newBuffer() []byte { return make([]byte, 0, bufferBytes) }

// inputs are buffers that origins receive through: each polling thread has one during a call.
var inputs = sync.Pool{New: func() any { return new([bufferBytes]byte) }}

// workspace is what it takes to serve a connection that is in the middle of something.
type workspace struct{ in, out []byte }

const workspaceBytes = 2 * bufferBytes

func newWorkspace() *workspace { return &workspace{in: make([]byte, bufferBytes), out: newBuffer()} }

// pool lends things of one kind.
type pool[T any] struct {
	create func() T
	made   atomic.Int64
	free   chan T // with room for as many as may be made
}

func (p *pool[T]) init(create func() T, most int64) { p.create, p.free = create, make(chan T, most) }

// get lends one. If there is none it waits, or ok is false.
func (p *pool[T]) get(wait bool) (x T, ok bool) {
	select {
	case x = <-p.free:
		return x, true
	default:
	}
	if p.made.Add(1) <= int64(cap(p.free)) {
		return p.create(), true
	}
	p.made.Add(-1)
	if wait {
		x = <-p.free
	}
	return x, wait
}

// put takes one back.
func (p *pool[T]) put(x T) { p.free <- x }

// scarce tells that none should be held for longer than it is needed at once.
func (p *pool[T]) scarce() bool { return int(p.made.Load())-len(p.free) > cap(p.free)/2 }
