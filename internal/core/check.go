// SPDX-License-Identifier: BSD-3-Clause

// Checks the arguments of operations. Every mistake is found before a byte is written; the message
// names the argument as the header does.
package core

import (
	"math"
	"slices"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Kind is what an operation does.
type Kind uint8

// The three data operations.
const (
	Put Kind = iota
	Get
	Acc
)

// Memory is in the lower half of the address space: (void *)-1 (MAP_FAILED) is refused, and so are
// ranges that wrap around.
const lastAddress = math.MaxInt64

// Op is one data operation as the application asked for it. For a put or accumulate Local is the
// source.
type Op struct {
	Kind    Kind
	Proc    int
	Xfer    transport.Xfer
	Levels  int // as given; Count has Levels+1 entries
	AccCode int // optype of an accumulate, either numbering
	Scale   transport.Scale
	Suffix  string // of the argument names: "" contiguous, "_ptr" strided, "_ptr_array" vector
	Missing string // name of an array that was NULL, found by capi
	Refuse  error  // another mistake, found by capi
	// Trusted: the caller has checked that the remote memory is its owner's; the target checks
	// it again.
	Trusted bool
	// TemporaryLocal: posted as blocking, since the local memory is temporary or another store
	// follows at once, but the frame may wait for later ones.
	TemporaryLocal bool

	segments []transport.Segments // for a list
	// the remote memory is known to be valid, or its owner has been asked
	remoteKnown bool
	// the target's memory that a checked transfer touches; not of vectors
	remoteExtent extent
}

// localArg is the header's name of the argument with the local memory.
func (o *Op) localArg() string { return argName(o.Kind == Get, o.Suffix) }

// remoteArg is the header's name of the argument with the remote memory.
func (o *Op) remoteArg() string { return argName(o.Kind != Get, o.Suffix) }

// argName is the header's name of an argument. It makes no new string for the usual ones, since
// each operation asks for it.
func argName(dst bool, suffix string) string {
	switch {
	case dst && suffix == "":
		return "dst"
	case dst && suffix == "_ptr":
		return "dst_ptr"
	case dst:
		return "dst" + suffix
	case suffix == "":
		return "src"
	case suffix == "_ptr":
		return "src_ptr"
	}
	return "src" + suffix
}

// checkOp checks all arguments of an operation and sets what Op has about its remote memory. It
// returns false if there is nothing to move.
func (r *Runtime) checkOp(o *Op) (bool, error) {
	if err := r.checkRank("proc", o.Proc); err != nil {
		return false, err
	}
	if o.Refuse != nil {
		return false, o.Refuse
	}
	if o.Missing != "" {
		return false, argErr(CodeArrays, o.Missing, "null pointer")
	}
	if o.Kind == Acc {
		if err := o.checkAcc(); err != nil {
			return false, err
		}
	}
	if o.Xfer.Vector != nil {
		return r.checkVector(o)
	}
	return r.checkStrided(o)
}

// checkAcc checks the operator and the scale of an accumulate and sets the type of the scale.
func (o *Op) checkAcc() error {
	t, ok := kernel.TypeOfAcc(o.AccCode)
	if !ok {
		return argErr(CodeOp, "optype", "%d is no accumulate operation", o.AccCode)
	}
	if o.Scale.Value == nil {
		return argErr(CodeArgument, "scale", "null pointer")
	}
	o.Scale.Type = int(t)
	return nil
}

// checkWhole returns an error unless n bytes are a whole number of elements of an accumulate.
func (o *Op) checkWhole(arg string, n int) error {
	if o.Kind != Acc {
		return nil
	}
	if size := kernel.TypeSize(kernel.Type(o.Scale.Type)); n%size != 0 {
		return argErr(CodeBytes, arg,
			"%d bytes are not a whole number of elements of %d bytes", n, size)
	}
	return nil
}

// checkStrided is check for a contiguous or strided operation. It sets o.extent and o.known.
func (r *Runtime) checkStrided(o *Op) (bool, error) {
	if o.Levels < 0 || o.Levels > kernel.MaxLevels {
		return false, argErr(CodeLevels, "stride_levels", "%d is outside 0..%d", o.Levels,
			kernel.MaxLevels)
	}
	x, arg := &o.Xfer, "count"
	if o.Suffix == "" {
		arg = "bytes"
	}
	for i, c := range x.Count {
		switch {
		case c < 0 && i == 0:
			return false, argErr(CodeBytes, arg, "%d is negative", c)
		case c < 0:
			return false, argErr(CodeLevels, arg, "%d blocks at level %d", c, i)
		}
	}
	if err := o.checkWhole(arg, int(x.Count[0])); err != nil {
		return false, err
	}
	volume, lo, hi := kernel.Extent(x.Remote.Stride, x.Count)
	switch {
	case volume == 0:
		return false, nil
	case volume > kernel.MostBytes:
		return false, argErr(CodeLevels, arg,
			"%v are more than the %d bytes that one transfer may have", x.Count,
			int64(kernel.MostBytes))
	case x.Local.Base == 0:
		return false, argErr(CodeArgument, o.localArg(), "null pointer")
	case x.Local.Base > lastAddress:
		return false, argErr(CodeArgument, o.localArg(), "%#x is no address", x.Local.Base)
	case x.Remote.Base == 0:
		return false, argErr(CodeArgument, o.remoteArg(), "null pointer")
	}
	o.remoteExtent = extent{x.Remote.Base + uintptr(lo), x.Remote.Base + uintptr(hi)}
	if o.remoteKnown = o.Trusted; o.remoteKnown {
		return true, nil
	}
	var err error
	o.remoteKnown, err = r.checkRemote(o.remoteArg(), o.Proc, o.remoteExtent.lo, hi-lo)
	return true, err
}

// noAddress tells whether an address cannot be one of memory.
func noAddress(a uintptr) bool { return a == 0 || a > lastAddress }

// checkVector is check for a vector operation. It sets o.known: all segments are known.
func (r *Runtime) checkVector(o *Op) (bool, error) {
	some, all := false, int64(0)
	o.remoteKnown = true
	for i, s := range o.Xfer.Vector {
		if s.Bytes < 0 {
			return false, argErr(CodeBytes, "darr", "descriptor %d: bytes is %d", i,
				s.Bytes)
		}
		if err := o.checkWhole("darr", s.Bytes); err != nil {
			return false, err
		}
		if s.Bytes == 0 {
			continue
		}
		if all += int64(s.Bytes) * int64(len(s.Local)); all > kernel.MostBytes {
			return false, argErr(CodeLevels, "darr",
				"more than the %d bytes that one transfer may have",
				int64(kernel.MostBytes))
		}
		if j := slices.IndexFunc(s.Local, noAddress); j >= 0 {
			what := "null"
			if s.Local[j] != 0 {
				what = "no address"
			}
			return false, argErr(CodeArgument, "darr",
				"descriptor %d: %s address %d is %s", i, o.localArg(), j, what)
		}
		known, err := r.checkRemoteAll(o, &s)
		if err != nil {
			return false, err
		}
		o.remoteKnown = o.remoteKnown && known
		some = some || len(s.Local) > 0
	}
	return some, nil
}

// checkRemoteAll is checkRemote for every segment of a descriptor, by one search if one allocation
// holds them all.
func (r *Runtime) checkRemoteAll(o *Op, s *transport.Segments) (known bool, err error) {
	if len(s.Remote) == 0 || o.Trusted {
		return true, nil
	}
	lo, hi := s.Remote[0], s.Remote[0]
	for _, a := range s.Remote {
		lo, hi = min(lo, a), max(hi, a)
	}
	if o.Proc != int(r.Me) { // this rank's own segments may be outside the arena: check each
		if known, err = r.checkRemote(o.remoteArg(), o.Proc, lo,
			int64(hi-lo)+int64(s.Bytes)); known && err == nil {
			return true, nil
		}
	}
	known = true
	for _, a := range s.Remote {
		one, err := r.checkRemote(o.remoteArg(), o.Proc, a, int64(s.Bytes))
		if err != nil {
			return false, err
		}
		known = known && one
	}
	return known, nil
}

// checkRemote checks that n bytes at addr lie in one live allocation of proc; a rank may also name
// private memory of its own. known is false for memory of another node that this rank does not
// know: the caller has to ask its owner.
func (r *Runtime) checkRemote(arg string, proc int, addr uintptr, n int64) (known bool, err error) {
	rank, beyond := transport.Rank(proc), false
	switch {
	case addr == 0:
		return false, argErr(CodeArgument, arg, "null pointer")
	case n < 0 || addr > lastAddress || uintptr(n) > lastAddress-addr:
		beyond = true
	case !r.Topo.SameNode(rank):
		if known, beyond = r.regionManager.remote.contains(rank, addr, n); !known &&
			!beyond {
			known, _ = r.regionManager.confirmed.contains(rank, addr, n)
		}
	case rank == r.Me && !r.Memory.InArena(addr):
		return true, nil
	default:
		known = r.Memory.InRegionOf(r.Topo.Local(rank), addr, n)
		beyond = !known
	}
	if beyond {
		return false, argErr(CodeAddress, arg,
			"%d bytes at %#x are not within one allocation of rank %d", uint64(n), addr,
			proc)
	}
	return known, nil
}

// CheckFlag checks that a flag is an aligned int in one live allocation of proc. It asks the owner
// if this rank does not know the memory.
func (r *Runtime) CheckFlag(arg string, proc int, addr uintptr) error {
	if err := r.checkRank("proc", proc); err != nil {
		return err
	}
	if addr%4 != 0 {
		return argErr(CodeArgument, arg, "%#x is not aligned to 4 bytes", addr)
	}
	known, err := r.checkRemote(arg, proc, addr, 4)
	if known || err != nil {
		return err
	}
	return r.regionManager.askOwner(proc, arg, appendRange(nil, addr, 4))
}
