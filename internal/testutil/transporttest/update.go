// SPDX-License-Identifier: BSD-3-Clause

// Updates of the stand-ins. Those of a Fake depart at once, because they take effect in the order
// of their calls, and use the locks of its accumulates.
package transporttest

import (
	"errors"
	"slices"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// accumulateLines are the accumulate locks of all nets, because a Net between nodes and one within
// a node change the same memory.
var accumulateLines [64 * 16]uint32

// accumulateLocks are the locks as this end takes them.
func (f *Fake) accumulateLocks() kernel.Stripes {
	return kernel.Stripes{Word: unsafe.Pointer(&accumulateLines[0]), Mask: 63, PitchWords: 16,
		Owner: uint32(f.self + 1)}
}

// Update posts an update, and waits for what it fetches unless u.Done is set.
func (f *Fake) Update(p transport.Peer, u *transport.Update) error {
	n := u.Bytes()
	posted := &transport.Update{Op: u.Op, Type: u.Type, Runs: slices.Clone(u.Runs), Old: u.Old}
	if u.Data != nil && n > 0 {
		data := slices.Clone(unsafe.Slice((*byte)(u.Data), n))
		posted.Data = unsafe.Pointer(&data[0])
	}
	do := func() {
		kernel.UpdateRuns(f.accumulateLocks(), posted.Op, posted.Type, posted.Runs,
			posted.Data, posted.Old)
	}
	err := f.postUpdate(p, posted.Runs, do, u.Old != nil, u.Done)
	if err == nil && u.Old == nil {
		u.Finish(nil)
	}
	return err
}

// CompareSwap posts a compare-and-swap and waits for it.
func (f *Fake) CompareSwap(p transport.Peer, c *transport.CompareSwap) error {
	runs := []kernel.Segment{{Addr: c.Addr, Bytes: int64(len(c.Value))}}
	return f.postUpdate(p, runs, func() { compareSwap(f.accumulateLocks(), c) }, true, nil)
}

// compareSwap carries out c in memory of this process.
func compareSwap(st kernel.Stripes, c *transport.CompareSwap) {
	kernel.CompareSwap(st, len(c.Compare), kernel.Ptr(c.Addr), unsafe.Pointer(&c.Compare[0]),
		unsafe.Pointer(&c.Value[0]), unsafe.Pointer(&c.Old[0]))
}

// postUpdate has do called when all that has departed to the peer has taken effect. If it fetches
// done is called then; without done the call waits. The next fence reports a bad address, or the
// call that fetches.
func (f *Fake) postUpdate(p transport.Peer, runs []kernel.Segment, do func(), fetches bool,
	done func(error)) (err error) {
	finished, waits := make(chan error, 1), fetches && done == nil
	if waits {
		done = func(err error) { finished <- err }
	}
	o := &op{name: "update", update: do, xfer: &transport.Xfer{}}
	if fetches {
		o.xfer.Done = done
	}
	for _, r := range runs {
		o.xfer.Vector = append(o.xfer.Vector,
			transport.Segments{Remote: []uintptr{r.Addr}, Bytes: int(r.Bytes)})
	}
	f.net.changeState(func() {
		if o.to, err = f.reachableEnd(p); err != nil {
			return
		}
		f.net.operationCounts[o.name]++
		switch refusal := f.refusalOf(o); {
		case refusal == nil:
			f.departed[o.to] = append(f.departed[o.to], o)
		case !errors.Is(refusal, transport.ErrBadAddr):
			err = refusal
		case fetches:
			f.posted = append(f.posted, o) // departOp fails it
		default:
			f.lateErrors[o.to] = refusal
		}
	})
	if err == nil && waits {
		return <-finished
	}
	return err
}

// Update changes memory under the locks of lockPage.
func (m *Memory) Update(_ transport.Peer, u *transport.Update) error {
	kernel.UpdateRuns(m.stripes(), u.Op, u.Type, u.Runs, u.Data, u.Old)
	u.Finish(nil)
	return nil
}

// CompareSwap changes memory under the locks of lockPage.
func (m *Memory) CompareSwap(_ transport.Peer, c *transport.CompareSwap) error {
	compareSwap(m.stripes(), c)
	return nil
}
