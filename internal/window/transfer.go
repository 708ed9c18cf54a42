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
	Trusted       bool // the remote memory is known to be the rank's
	Explicit      bool // the caller wants to wait for this transfer alone
}

// Start starts a transfer, which core's WaitProc and fences complete. The result is core.Done, or what to wait for. An explicit
// one of several parts is complete when this returns.
func Start(rt *core.Runtime, t *Transfer) (int32, error) {
	o := core.NewOp()
	o.Kind, o.Proc, o.Trusted = t.Kind, t.Proc, t.Trusted
	local, one := t.Local.grid()
	remote, two := t.Remote.grid()
	if one && two && section(local, remote, &o.Xfer) {
		o.Suffix, o.Levels = "_ptr", len(o.Xfer.Count)-1
		handle, err := rt.Start(o, true)
		if err == nil {
			o.Release()
		}
		return handle, err
	}
	o.Suffix = "_ptr_array"
	err := vectors(&t.Local, &t.Remote, func(list []transport.Segments) error {
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
	return core.Done, err
}
