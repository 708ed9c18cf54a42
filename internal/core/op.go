// SPDX-License-Identifier: BSD-3-Clause

// Put, get and accumulate, contiguous, strided and vector, take one path: check, route, post,
// complete. Blocking is posting plus waiting. fence.go keeps operations in order.
package core

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"libarmci/internal/transport"
)

// Operations are reused, so that a call allocates nothing.
var operations = sync.Pool{New: func() any { return new(Op) }}

// NewOp returns an empty operation. The caller returns it by Release, unless it has failed.
func NewOp() *Op { return operations.Get().(*Op) }

// Release returns an operation for reuse. The caller has completed it by Do, Start or Collect
// without an error.
func (o *Op) Release() {
	segments := o.segments
	clear(segments[:cap(segments)]) // it has addresses of the caller's arrays
	*o = Op{segments: segments}
	operations.Put(o)
}

// Segments is an empty list for the transfer; its memory belongs to the operation.
func (o *Op) Segments() []transport.Segments {
	if o.segments == nil {
		o.segments = make([]transport.Segments, 0, 16)
	}
	return o.segments
}

// iface is a transport, with what the ranks that it reaches have in common.
type iface struct {
	tr         transport.Transport
	immediate  bool               // operations are complete at the target when they return
	fast       transport.FastPath // nil: there is none
	notifier   transport.Notifier // nil: notifications are messages
	wordWriter transport.Notifier // nil: events are messages
	// nil: unordered messages are received without being waited for
	watcher   transport.Watcher
	ordered   bool            // messages are handled after all earlier operations
	coalesces bool            // small operations cost less together
	alarm     transport.Alarm // in place of an answer; nil: there is none
	// stores of up to this many bytes are locally complete when they return
	eagerBytes int64
}

// newIface is the iface of a transport that has been opened.
func newIface(tr transport.Transport) iface {
	info := tr.Info()
	watcher, _ := tr.(transport.Watcher)
	notifier, _ := tr.(transport.Notifier)
	if notifier != nil && !notifier.Notifies() {
		notifier = nil
	}
	words := notifier
	if words != nil && !words.WritesWords() {
		words = nil
	}
	alarm, _ := tr.(transport.Alarm)
	to := iface{tr: tr, wordWriter: words, watcher: watcher, notifier: notifier,
		immediate: info.Immediate,
		ordered:   info.Ordered || info.Immediate, eagerBytes: int64(info.Eager),
		coalesces: info.Coalesces, alarm: alarm}
	if info.Fast {
		to.fast = tr.(transport.FastPath)
	}
	return to
}

// route is the iface by which a rank is reached, and the rank's number there. It does not change.
type route struct {
	*iface
	peer transport.Peer
}

func (r *Runtime) route(to transport.Rank) route {
	if r.Topo.SameNode(to) {
		return route{&r.intranode, transport.Peer(r.Topo.Local(to))}
	}
	return route{&r.internode, transport.Peer(to)}
}

// completesAtOnce tells whether a checked operation is locally complete as soon as it has been
// posted.
func (to *iface) completesAtOnce(o *Op) bool {
	return to.immediate || o.Kind != Get && o.Xfer.Bytes() <= to.eagerBytes
}

// Do executes an operation. It returns when the local memory may be reused (put, accumulate) or has
// the data (get).
func (r *Runtime) Do(o *Op) error {
	nonEmpty, err := r.checkOp(o)
	if err != nil || !nonEmpty {
		return err
	}
	if err := r.verifyRemote(o); err != nil {
		return err
	}
	r.coalescing.postCoalesced(o.Proc)
	to := r.route(transport.Rank(o.Proc))
	if to.fast != nil {
		defer r.addFastRange(o)
	}
	if to.completesAtOnce(o) {
		o.Xfer.Done, o.Xfer.Later = nil, o.TemporaryLocal
		return r.postOp(o)
	}
	c := completions.Get().(*completion)
	defer c.release()
	o.Xfer.Done = c.onDone
	if err := r.postOp(o); err != nil {
		return err
	}
	return o.wrapError(c.waitDone(to.tr))
}

// postOp passes an operation, which the caller has checked and verified, to its transport.
func (r *Runtime) postOp(o *Op) error {
	to := r.route(transport.Rank(o.Proc))
	var err error
	switch o.Kind {
	case Put:
		err = to.tr.Put(to.peer, &o.Xfer)
	case Get:
		return o.wrapError(to.tr.Get(to.peer, &o.Xfer))
	case Acc:
		err = to.tr.Acc(to.peer, &o.Xfer, o.Scale)
	}
	if !to.immediate {
		r.traffic.countPosted(o.Proc)
	}
	return o.wrapError(err)
}

// wrapError is the caller's error when the transport has failed, at once or later; nil for nil.
func (o *Op) wrapError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, transport.ErrBadAddr):
		return argErr(CodeAddress, o.remoteArg(), "%v", err)
	}
	return fmt.Errorf("%d bytes to or from rank %d: %w", o.Xfer.Bytes(), o.Proc, err)
}

// copyBlocking is a blocking put or get between memory of Go's heap, which does not move, and
// memory of a rank.
func (r *Runtime) copyBlocking(kind Kind, rank transport.Rank, here []byte, there uintptr) error {
	o := NewOp()
	o.Kind, o.Proc = kind, int(rank)
	o.Xfer.Local.Base, o.Xfer.Remote.Base = uintptr(unsafe.Pointer(unsafe.SliceData(here))),
		there
	o.Xfer.Count = append(o.Xfer.Count[:0], int32(len(here)))
	err := r.Do(o)
	runtime.KeepAlive(here)
	if err == nil {
		o.Release() // else it may still be in use
	}
	return err
}
