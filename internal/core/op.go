// SPDX-License-Identifier: BSD-3-Clause

// The one path of put, get and accumulate in all three shapes: check, route, post, complete. Blocking is posting plus
// waiting; ordering between operations is fence.go's.
package core

import (
	"errors"
	"fmt"

	"libarmci/internal/transport"
)

// route is how one rank is reached: one transport for the whole run.
type route struct {
	tr        transport.Transport
	peer      transport.Peer
	immediate bool  // operations are complete when they return
	ordered   bool  // messages come after earlier operations
	eager     int64 // known stores of up to this many bytes are locally complete when they return
}

func newRoute(tr transport.Transport, p transport.Peer, info transport.Info) route {
	return route{tr: tr, peer: p, immediate: info.Immediate, ordered: info.Ordered || info.Immediate, eager: int64(info.Eager)}
}

// atOnce tells whether a checked operation is locally complete when it has been posted.
func (to *route) atOnce(o *Op) bool {
	return to.immediate || o.Kind != Get && o.Xfer.Known && o.Xfer.Bytes() <= to.eager
}

// Do carries an operation out and returns when the local memory may be reused (put, accumulate) or holds the data (get).
func (r *Runtime) Do(o *Op) error {
	some, err := r.check(o)
	if err != nil || !some {
		return err
	}
	if err := r.verify(o); err != nil {
		return err
	}
	to := &r.routes[o.Proc]
	if to.atOnce(o) {
		o.Xfer.Done = nil
		return r.post(o)
	}
	w := waiters.Get().(*waiter)
	defer w.release()
	o.Xfer.Done = w.finish
	if err := r.post(o); err != nil {
		return err
	}
	return o.failure(w.wait(to.tr))
}

// post hands a checked operation to its transport.
func (r *Runtime) post(o *Op) error {
	to := &r.routes[o.Proc]
	var err error
	switch o.Kind {
	case Put:
		err = to.tr.Put(to.peer, &o.Xfer)
	case Get:
		return o.failure(to.tr.Get(to.peer, &o.Xfer))
	case Acc:
		err = to.tr.Acc(to.peer, &o.Xfer, o.Scale)
	}
	if !to.immediate {
		r.traffic.posted(o.Proc)
	}
	return o.failure(err)
}

// failure is what the caller is told when the transport has failed, at once or later.
func (o *Op) failure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, transport.ErrBadAddr):
		return argErr(CodeAddress, o.remote(), "%v", err)
	}
	return fmt.Errorf("%d bytes to or from rank %d: %w", o.Xfer.Bytes(), o.Proc, err)
}
