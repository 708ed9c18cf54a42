// SPDX-License-Identifier: BSD-3-Clause

// Updates and compare-and-swaps of the conformance suite: results against the kernel on a model,
// and their order among each other and with accumulates.
package transporttest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// updateTests are tests of updates.
type updateTests struct{ *suite }

// testUpdates shows that updates of some operators and types, at some runs of memory, change it as
// the kernel does, and fetch what was there. Core's tests have all of them.
func (s updateTests) testUpdates(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 0))
	for place := range s.memOf {
		s.mustRequest(t, place, command{Do: "fill", Seed: 8})
		model := s.filledModel(8)
		for typ := range kernel.UpdateType(kernel.UpdateTypes) {
			if typ == kernel.F80 || typ == kernel.C80 || typ == kernel.PairF80Int {
				continue // bytes that are no number, or padding
			}
			for op := range kernel.UpdateOp(kernel.UpdateOps) {
				if kernel.UpdateValid(op, typ) && r.IntN(8) == 0 {
					s.checkUpdate(t, place, model, op, typ, r)
				}
			}
		}
		s.compareMemory(t, place, model)
	}
}

// checkUpdate updates some runs at a place and in the model.
func (s updateTests) checkUpdate(t *testing.T, place int, model []byte, op kernel.UpdateOp,
	typ kernel.UpdateType, r *rand.Rand) {
	t.Helper()
	size := kernel.UpdateBytes(typ)
	u := &transport.Update{Op: op, Type: typ}
	var want []byte
	data := make([]byte, dataBytes)
	for i := range data {
		data[i] = byte(r.IntN(4)) // small numbers of every type
	}
	from := data
	for at := r.IntN(64); len(u.Runs) < 1+r.IntN(12) && at < dataBytes-8192; {
		n := size * r.IntN(1<<r.IntN(8))
		u.Runs = append(u.Runs, kernel.Segment{Addr: s.memOf[place] + uintptr(at),
			Bytes: int64(n)})
		if part := model[at : at+n]; n > 0 {
			want = append(want, part...)
			kernel.Update(kernel.Stripes{}, op, typ, unsafe.Pointer(&part[0]),
				unsafe.Pointer(&from[0]), nil, n/size)
			from = from[n:]
		}
		at += n + size*r.IntN(3)
	}
	if op != kernel.OpNoOp {
		u.Data = unsafe.Pointer(&data[0])
	}
	old := make([]byte, len(want)+1)
	if fetches := r.IntN(2) == 0; fetches {
		u.Old = unsafe.Pointer(&old[0])
	} else {
		old, want = nil, nil
	}
	s.finishUpdate(t, place, u, r.IntN(2) == 0)
	if len(old) > 0 && !bytes.Equal(old[:len(want)], want) {
		t.Fatalf("operator %d of type %d at place %d fetches other elements", op, typ,
			place)
	}
}

// finishUpdate executes an update, and waits until it has fetched.
func (s updateTests) finishUpdate(t *testing.T, place int, u *transport.Update, later bool) {
	t.Helper()
	done := make(chan error, 2)
	if later {
		u.Done = func(err error) { done <- err }
	}
	if err := s.end.Transport.Update(transport.Peer(place), u); err != nil {
		t.Fatal(err)
	}
	if later {
		if err := s.remote().awaitCompletions(done, 1); err != nil {
			t.Fatal(err)
		}
	}
}

func (s updateTests) remote() remoteTests { return remoteTests(s) }

// testUpdateOrder shows that accumulates, updates that fetch or not, and compare-and-swaps of one
// word take effect in the order of their calls, though none waits for another one.
func (s updateTests) testUpdateOrder(t *testing.T) {
	s.mustRequest(t, 1, command{Do: "clear"})
	o := orderedWord{suite: s.suite, t: t, addr: s.memOf[1] + 4096 - 8,
		done: make(chan error, 1000), random: rand.New(rand.NewPCG(9, 0))}
	for range 300 {
		o.change()
	}
	if err := s.remote().awaitCompletions(o.done, o.open); err != nil {
		t.Fatal(err)
	}
	for i, at := range o.fetched {
		if *at != o.want[i] {
			t.Fatalf("fetch %d of %d is %d, expected %d", i, len(o.want), *at,
				o.want[i])
		}
	}
	if err := s.end.Transport.Fence(1); err != nil {
		t.Fatal(err)
	}
	if got := native.Uint64(s.mustRequest(t, 1,
		command{Do: "read"}).Body[4096-8:]); got != o.value {
		t.Fatalf("the word is %d, expected %d", got, o.value)
	}
}

// orderedWord is a word of place 1 that is changed by one kind of operation after the other.
type orderedWord struct {
	*suite
	t       *testing.T
	random  *rand.Rand
	addr    uintptr
	value   uint64     // after all changes so far
	fetched []*uint64  // what nonblocking updates fetch
	want    []uint64   // expected there
	open    int        // nonblocking updates
	done    chan error // of these
}

// change changes the word.
func (o *orderedWord) change() {
	x := new(uint64)
	*x = uint64(o.random.IntN(1000))
	tr := o.end.Transport
	u := &transport.Update{Op: kernel.OpReplace, Type: kernel.U64, Data: unsafe.Pointer(x),
		Runs: []kernel.Segment{{Addr: o.addr, Bytes: 8}}}
	was := o.value
	var err error
	switch o.random.IntN(5) {
	case 0: // an accumulate of 3 * x
		scale := uint64(3)
		o.value += 3 * *x
		native.PutUint64(o.end.memory(scratchAt, 8), *x)
		err = waitTransfer(func(x *transport.Xfer) error {
			return tr.Acc(1, x, transport.Scale{Type: int(kernel.Long),
				Value: unsafe.Pointer(&scale)})
		}, contiguous(o.end.Mem+scratchAt, o.addr, 8))
	case 1:
		o.value = *x
		err = tr.Update(1, u)
	case 2:
		u.Op, u.Old = kernel.OpProd, unsafe.Pointer(new(uint64))
		o.value *= *x
		if err = tr.Update(1, u); err == nil && *(*uint64)(u.Old) != was {
			o.t.Fatalf("a fetch finds %d, expected %d", *(*uint64)(u.Old), was)
		}
	case 3:
		at := new(uint64)
		u.Op, u.Old = kernel.OpSum, unsafe.Pointer(at)
		u.Done = func(err error) { o.done <- err }
		o.value += *x
		o.fetched, o.want, o.open = append(o.fetched, at), append(o.want, was), o.open+1
		err = tr.Update(1, u)
	default:
		c := &transport.CompareSwap{Addr: o.addr, Compare: native.AppendUint64(nil, was),
			Value: native.AppendUint64(nil, *x), Old: make([]byte, 8)}
		o.value = *x
		if err = tr.CompareSwap(1, c); err == nil && native.Uint64(c.Old) != was {
			o.t.Fatalf("a compare-and-swap finds %d, expected %d",
				native.Uint64(c.Old), was)
		}
	}
	if err != nil {
		o.t.Fatal(err)
	}
	*x = 77 // the caller may reuse it
}

// testRefusedUpdates shows that updates outside a place's memory change nothing, and that the
// caller learns it: by the call or Done if it fetches, else by the next fence.
func (s updateTests) testRefusedUpdates(t *testing.T) {
	if !s.end.Guarded {
		t.Skip("no target checks addresses")
	}
	s.mustRequest(t, 1, command{Do: "fill", Seed: 3})
	tr, x, old := s.end.Transport, make([]byte, 16), make([]byte, 16)
	bad := s.memOf[1] + MemBytes + 64<<20
	u := &transport.Update{Op: kernel.OpReplace, Type: kernel.U64, Data: unsafe.Pointer(&x[0]),
		Runs: []kernel.Segment{{Addr: s.memOf[1], Bytes: 8}, {Addr: bad, Bytes: 8}}}
	err := tr.Update(1, u)
	if late := tr.Fence(1); err == nil {
		err = late
	}
	if !errors.Is(err, transport.ErrBadAddr) {
		t.Errorf("a store: %v", err)
	}
	u.Old = unsafe.Pointer(&old[0])
	if err := tr.Update(1, u); !errors.Is(err, transport.ErrBadAddr) {
		t.Errorf("a fetch: %v", err)
	}
	done := make(chan error, 1)
	u.Done = func(err error) { done <- err }
	if err := tr.Update(1, u); err == nil {
		err = s.remote().awaitCompletions(done, 1)
		if !errors.Is(err, transport.ErrBadAddr) {
			t.Errorf("a nonblocking fetch: %v", err)
		}
	}
	c := &transport.CompareSwap{Addr: bad, Compare: x, Value: x, Old: old}
	if err := tr.CompareSwap(1, c); !errors.Is(err, transport.ErrBadAddr) {
		t.Errorf("a compare-and-swap: %v", err)
	}
	s.compareMemory(t, 1, s.filledModel(3))
}

// testWordBehindUpdate shows that a word which a device writes is behind the updates before it.
func (s updateTests) testWordBehindUpdate(t *testing.T) {
	n, may := s.end.Transport.(transport.Notifier)
	if !may || !n.WritesWords() {
		t.Skip("no device writes words")
	}
	s.mustRequest(t, 1, command{Do: "clear"})
	data, written := make([]byte, 20000), 0
	u := &transport.Update{Op: kernel.OpReplace, Type: kernel.Bytes,
		Data: unsafe.Pointer(&data[0]),
		Runs: []kernel.Segment{{Addr: s.memOf[1], Bytes: int64(len(data))}}}
	for value := uint32(1); value <= 40; value++ {
		fill(data, uint64(value))
		if err := s.end.Transport.Update(1, u); err != nil {
			t.Fatal(err)
		}
		if value%2 == 0 {
			if err := s.end.Transport.Fence(1); err != nil {
				t.Fatal(err)
			}
		}
		byDevice, err := n.WriteWord(1, s.memOf[1]+wordsAt, value, transport.Msg{Kind: 9})
		if err != nil {
			t.Fatal(err)
		}
		if !byDevice {
			continue
		}
		written++
		there := s.mustRequest(t, 1, command{Do: "read"}).Body
		for native.Uint32(there[wordsAt:]) != value {
			there = s.mustRequest(t, 1, command{Do: "read"}).Body
		}
		if !bytes.Equal(there[:len(data)], data) {
			t.Fatalf("word %d is there, and not the update before it", value)
		}
	}
	t.Logf("%d of 40 words were written by the device", written)
}
