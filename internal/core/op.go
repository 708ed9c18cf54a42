// SPDX-License-Identifier: BSD-3-Clause

// The one path of put, get and accumulate in all three shapes: check, route, post, complete. Blocking is posting plus
// waiting; ordering between operations is fence.go's.
package core

import (
	"errors"
	"fmt"

	"libarmci/internal/transport"
)

// Do carries an operation out and returns when the local memory may be reused (put, accumulate) or holds the data (get).
func (r *Runtime) Do(o *Op) error {
	some, err := r.check(o)
	if err != nil || !some {
		return err
	}
	if r.routes[o.Proc].immediate {
		return r.post(o)
	}
	done := make(chan error, 1)
	o.Xfer.Done = func(err error) { done <- err }
	if err := r.post(o); err != nil {
		return err
	}
	return o.failure(<-done)
}

// post hands a checked operation to its transport.
func (r *Runtime) post(o *Op) error {
	to := &r.routes[o.Proc]
	var err error
	switch o.Kind {
	case Put:
		err = to.tr.Put(to.peer, &o.Xfer)
	case Get:
		err = to.tr.Get(to.peer, &o.Xfer)
	case Acc:
		err = to.tr.Acc(to.peer, &o.Xfer, o.Scale)
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
