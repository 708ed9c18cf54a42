// SPDX-License-Identifier: BSD-3-Clause

// Accumulates, fetching or not, of any shape: the target's memory is a list of runs of whole elements, the data is packed.
package window

import (
	"unsafe"

	"libarmci/internal/core"
	"libarmci/internal/kernel"
)

// Update is an accumulate. All sides have equally many elements of one type.
type Update struct {
	Proc    int
	Op      kernel.UpdateOp
	Type    kernel.UpdateType
	Local   Side // not used by the operator that does nothing
	Remote  Side
	Result  *Side // nil: it does not fetch
	Trusted bool
}

// Do executes an accumulate. It returns when the local memory may be used again, and the result is there.
func (u *Update) Do(rt *core.Runtime) error {
	local, remote := walker{side: &u.Local}, walker{side: &u.Remote}
	var result walker
	if u.Result != nil {
		result.side = u.Result
	}
	var part core.Update
	var data []byte
	for left := u.Remote.Bytes(); left > 0; {
		n := u.part(&part, &remote, left)
		left -= n
		if u.Op != kernel.OpNoOp {
			data = local.whole(n)
			part.Data = unsafe.Pointer(unsafe.SliceData(data))
		}
		if u.Result != nil {
			part.Old = make([]byte, n)
		}
		if err := rt.Update(&part); err != nil {
			return err
		}
		if u.Result != nil {
			result.unpack(part.Old)
		}
	}
	return nil
}

// mostUpdated bounds the data of one update of core, and mostRuns its runs.
const (
	mostUpdated = 1 << 20
	mostRuns    = 4096
)

// part describes the next part of the target's memory and returns its bytes.
func (u *Update) part(p *core.Update, remote *walker, left int64) (n int64) {
	*p = core.Update{Proc: u.Proc, Op: u.Op, Type: u.Type, Runs: p.Runs[:0], Trusted: u.Trusted}
	size := int64(kernel.UpdateBytes(u.Type))
	for n < left && n < mostUpdated && len(p.Runs) < mostRuns {
		m := min(remote.left(), max((mostUpdated-n)/size, 1)*size)
		n += m
		at := remote.take(m)
		if k := len(p.Runs) - 1; k >= 0 && p.Runs[k].Addr+uintptr(p.Runs[k].Bytes) == at { // rows of a datatype may touch
			p.Runs[k].Bytes += m
			continue
		}
		p.Runs = append(p.Runs, core.Run{Addr: at, Bytes: m})
	}
	return n
}

// whole is the next n bytes of a side in one piece: where they are, or a copy.
func (w *walker) whole(n int64) []byte {
	if w.side.Shape == nil || n <= w.left() {
		return memory(w.take(n), n)
	}
	b := make([]byte, n)
	w.pack(b)
	return b
}
