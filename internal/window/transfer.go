// SPDX-License-Identifier: BSD-3-Clause

// Put and get: both sides become a section or a vector, and core moves it.
package window

import (
	"libarmci/internal/core"
	"libarmci/internal/transport"
)

// Transfer is a put or get of two sides that have equally many bytes.
type Transfer struct {
	Kind          core.Kind // Put or Get
	Proc          int       // rank of the job
	Local, Remote Side
	Trusted       bool // one region of the rank is known to hold all of the remote memory
	Explicit      bool // the caller wants to wait for this transfer alone
}

// Start starts a transfer, which core's WaitProc and fences complete. The result is a number to
// wait for, or core.Done. An explicit one of several parts is complete when this returns.
func Start(rt *core.Runtime, t *Transfer) (int32, error) {
	o := core.NewOp()
	o.Kind, o.Proc, o.Trusted = t.Kind, t.Proc, t.Trusted
	local, one := t.Local.grid()
	remote, two := t.Remote.grid()
	if one && two && commonSection(local, remote, &o.Xfer) {
		o.Suffix, o.Levels = "_ptr", len(o.Xfer.Count)-1
		handle, err := rt.Start(o, true)
		if err == nil {
			o.Release()
		}
		if !t.mayBeScattered(remote, err) {
			return handle, err
		}
		o.Xfer, o.Levels = transport.Xfer{}, 0
	}
	return core.Done, t.startVectors(rt, o)
}

// mayBeScattered tells whether a section was refused of which each block may nevertheless be in a
// region. core requires a whole section to be in one region, but only each segment of a vector.
func (t *Transfer) mayBeScattered(remote grid, err error) bool {
	return !t.Trusted && len(remote.levels) > 0 && core.CodeOf(err) == core.CodeAddress
}

// startVectors moves the sides as vectors of pairs of segments.
func (t *Transfer) startVectors(rt *core.Runtime, o *core.Op) error {
	o.Suffix = "_ptr_array"
	err := forEachVector(&t.Local, &t.Remote, func(list []transport.Segments) error {
		o.Xfer.Vector = list
		if t.Explicit {
			return rt.Do(o)
		}
		_, err := rt.Start(o, true)
		return err
	})
	if err == nil {
		o.Release()
	}
	return err
}
