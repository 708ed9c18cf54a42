// SPDX-License-Identifier: BSD-3-Clause

// Accumulates of any operator and type, fetching or not, and compare-and-swap, as MPI has them.
// Those of one origin at one rank take effect in the order in which they were called, and in order
// with its earlier stores and its later accumulates (Op) there. Within the node they are done when
// the call returns; between nodes a fence waits for them, also for what they fetch.
package core

import (
	"errors"
	"fmt"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Update is one accumulate: its elements are those of Runs, in order.
type Update struct {
	Proc int
	Op   kernel.UpdateOp
	Type kernel.UpdateType
	Runs []kernel.Segment // of the target; whole elements each
	// packed elements, which may be overwritten when the call returns; nil for no-op
	Data unsafe.Pointer
	Old  []byte // nil: not fetched; else it gets the old elements, packed
	// the caller has checked that the runs are the target's; the target checks it again
	Trusted bool
}

// Update executes an update. It returns when Data may be overwritten and Old has been stored.
func (r *Runtime) Update(u *Update) error {
	nonEmpty, err := r.checkUpdate(u)
	if err != nil || !nonEmpty {
		return err
	}
	if err := r.postUpdate(u, nil); err != nil {
		return err
	}
	if u.Old == nil && !r.route(transport.Rank(u.Proc)).immediate {
		r.traffic.countPosted(u.Proc)
	}
	return nil
}

// postUpdate passes an update, which the caller has checked, to its transport. Without done it
// returns when Old has been stored, else done is called then.
func (r *Runtime) postUpdate(u *Update, done func(error)) error {
	r.coalescing.postCoalesced(u.Proc)
	x := transport.Update{Op: u.Op, Type: u.Type, Runs: u.Runs, Data: u.Data,
		Old: unsafe.Pointer(unsafe.SliceData(u.Old)), Done: done}
	to := r.route(transport.Rank(u.Proc))
	return updateError(u.Proc, to.tr.Update(to.peer, &x))
}

// checkUpdate checks an update. It returns false if there is nothing to do.
func (r *Runtime) checkUpdate(u *Update) (nonEmpty bool, err error) {
	if err := r.checkRank("proc", u.Proc); err != nil {
		return false, err
	}
	all, err := u.checkElements()
	if err != nil || all == 0 || u.Op == kernel.OpNoOp && u.Old == nil {
		return false, err
	}
	if !u.Trusted {
		err = r.regionManager.checkRuns(u.Proc, u.Runs)
	}
	return err == nil, err
}

// checkElements checks all but the rank and the owner of the memory. It returns the bytes of all
// elements.
func (u *Update) checkElements() (all int64, err error) {
	if !kernel.UpdateValid(u.Op, u.Type) {
		return 0, argErr(CodeOp, "op",
			"operator %d is not defined for elements of type %d", u.Op, u.Type)
	}
	size := kernel.UpdateBytes(u.Type)
	for _, run := range u.Runs {
		switch {
		case run.Bytes < 0 || run.Bytes%int64(size) != 0:
			return 0, argErr(CodeBytes, "target",
				"%d bytes are not a whole number of elements of %d bytes",
				run.Bytes, size)
		case run.Bytes > kernel.MostBytes-all:
			return 0, argErr(CodeBytes, "target",
				"more than the %d bytes that one update may have",
				int64(kernel.MostBytes))
		case run.Bytes > 0 &&
			(noAddress(run.Addr) || uintptr(run.Bytes) > lastAddress-run.Addr):
			return 0, argErr(CodeAddress, "target",
				"%d bytes at %#x of rank %d are no memory", run.Bytes, run.Addr,
				u.Proc)
		}
		all += run.Bytes
	}
	switch {
	case all > 0 && u.Data == nil && u.Op != kernel.OpNoOp:
		return 0, argErr(CodeArgument, "origin", "null pointer")
	case u.Old != nil && int64(len(u.Old)) != all:
		return 0, argErr(CodeBytes, "result", "room for %d bytes, %d are fetched",
			len(u.Old), all)
	}
	return all, nil
}

// checkRuns is checkRemote for all runs. It asks the owner about runs that this rank does not know.
func (rm *regionManager) checkRuns(proc int, runs []kernel.Segment) error {
	var unknown []byte
	for _, run := range runs {
		if run.Bytes == 0 {
			continue
		}
		known, err := rm.rt.checkRemote("target", proc, run.Addr, run.Bytes)
		if err != nil {
			return err
		}
		if !known {
			unknown = appendRange(unknown, run.Addr, run.Bytes)
		}
	}
	for question := range fragments(unknown, maxRanges*rangeBytes) {
		if err := rm.askOwner(proc, "target", question); err != nil {
			return err
		}
	}
	return nil
}

// updateError is the caller's error when an update has failed at a rank; nil for nil.
func updateError(proc int, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, transport.ErrBadAddr):
		return argErr(CodeAddress, "target", "%v", err)
	}
	return fmt.Errorf("update at rank %d: %w", proc, err)
}

// CompareSwap stores the n bytes of value at addr of rank proc if the bytes there equal those of
// compare; old gets what was there.
func (r *Runtime) CompareSwap(proc int, addr uintptr, n int, compare, value, old []byte,
	trusted bool) error {
	if err := r.checkRank("proc", proc); err != nil {
		return err
	}
	if n < 1 || n > transport.MaxCompare || len(compare) != n || len(value) != n ||
		len(old) != n {
		return argErr(CodeBytes, "bytes",
			"%d is outside 1..%d, or not the size of the operands", n,
			transport.MaxCompare)
	}
	if !trusted {
		if err := r.regionManager.checkRuns(proc,
			[]kernel.Segment{{Addr: addr, Bytes: int64(n)}}); err != nil {
			return err
		}
	}
	r.coalescing.postCoalesced(proc)
	to := r.route(transport.Rank(proc))
	return updateError(proc, to.tr.CompareSwap(to.peer, &transport.CompareSwap{Addr: addr,
		Compare: compare, Value: value, Old: old}))
}
