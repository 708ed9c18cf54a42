// SPDX-License-Identifier: BSD-3-Clause

// Accumulates, fetching or not, of any shape: the target's memory is a list of runs of whole
// elements, the data is packed.
package window

import (
	"unsafe"

	"libarmci/internal/core"
	"libarmci/internal/kernel"
)

// Update is an accumulate. All sides have equally many elements of one type.
type Update struct {
	Proc     int
	Op       kernel.UpdateOp
	Type     kernel.UpdateType
	Local    Side // not used by the operator that does nothing
	Remote   Side
	Result   *Side // nil: it does not fetch
	Trusted  bool
	Explicit bool // the caller wants to wait for this update alone
}

// Start executes an accumulate. It returns when the local memory may be used again. One that
// fetches is completed by core's WaitProc and fences, and by a wait for the number that it returns,
// which is core.Done if it is complete. An explicit one of several parts is complete when this
// returns.
func (u *Update) Start(rt *core.Runtime) (number int32, err error) {
	local, remote := walker{side: &u.Local}, walker{side: &u.Remote}
	var result walker
	if u.Result != nil {
		result.side = u.Result
	}
	var part core.Update
	for left := u.Remote.Bytes(); left > 0 && err == nil; {
		n := u.nextPart(&part, &remote, left)
		several := n < u.Remote.Bytes()
		if u.Op != kernel.OpNoOp {
			part.Data = unsafe.Pointer(unsafe.SliceData(local.nextContiguous(n)))
		}
		left -= n
		if u.Result == nil {
			err = rt.Update(&part)
			continue
		}
		number, err = fetchPart(rt, &part, &result, n)
		if err == nil && several && u.Explicit {
			number, err = core.Done, rt.Wait(number)
		}
	}
	return number, err
}

// fetchPart starts a part that fetches the next n bytes of the result.
func fetchPart(rt *core.Runtime, part *core.Update, result *walker, n int64) (int32, error) {
	if result.runLeft() >= n {
		part.Old = memory(result.advance(n), n)
		return rt.StartUpdate(part, nil)
	}
	old, to := make([]byte, n), *result
	for left := n; left > 0; {
		m := min(result.runLeft(), left)
		result.advance(m)
		left -= m
	}
	part.Old = old
	return rt.StartUpdate(part, func() { to.unpack(old) })
}

// Limits of one update of core.
const (
	maxUpdateBytes = 1 << 20
	maxRuns        = 4096
)

// nextPart describes the next part of the target's memory in p and returns its bytes.
func (u *Update) nextPart(p *core.Update, remote *walker, left int64) (n int64) {
	*p = core.Update{Proc: u.Proc, Op: u.Op, Type: u.Type, Runs: p.Runs[:0], Trusted: u.Trusted}
	size := int64(kernel.UpdateBytes(u.Type))
	for n < left && n < maxUpdateBytes && len(p.Runs) < maxRuns {
		m := min(remote.runLeft(), max((maxUpdateBytes-n)/size, 1)*size)
		n += m
		at := remote.advance(m)
		if k := len(p.Runs) - 1; k >= 0 && p.Runs[k].Addr+uintptr(p.Runs[k].Bytes) == at {
			// rows of a datatype may touch
			p.Runs[k].Bytes += m
			continue
		}
		p.Runs = append(p.Runs, kernel.Segment{Addr: at, Bytes: m})
	}
	return n
}

// nextContiguous returns the next n bytes of a side in one piece: where they are, or a copy.
func (w *walker) nextContiguous(n int64) []byte {
	if w.side.Shape == nil || n <= w.runLeft() {
		return memory(w.advance(n), n)
	}
	b := make([]byte, n)
	w.pack(b)
	return b
}
