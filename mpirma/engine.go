// SPDX-License-Identifier: BSD-3-Clause

// What the C files ask of the engine: operations that are not loads and stores, synchronisation
// with other nodes, and memory. Every function returns one of window.h's GO_ codes and, if that is
// not GO_OK, writes why.
package main

// #include "window.h"
// static inline uintptr_t shape_of(const struct rma_type *t)
// {
//	return atomic_load_explicit(&((struct rma_type *)t)->shape, memory_order_acquire);
// }
// static inline bool set_shape(const struct rma_type *t, uintptr_t shape)
// {
//	uintptr_t none = 0;
//	return atomic_compare_exchange_strong(&((struct rma_type *)t)->shape, &none, shape);
// }
import "C"

import (
	"errors"
	"runtime/cgo"
	"unsafe"

	"libarmci/internal/core"
	"libarmci/internal/guest"
	"libarmci/internal/kernel"
	"libarmci/internal/transport"
	"libarmci/internal/window"
)

const textBytes = 200

// result is the code of an error, whose text goes to C.
func result(err error, text *C.char) C.int {
	if err == nil {
		return C.GO_OK
	}
	if rt := lib.rt.Load(); rt != nil {
		rt.AwaitJobEnd("MPI one-sided communication", err)
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(text)), textBytes)
	b[copy(b[:textBytes-1], err.Error())] = 0
	switch {
	case errors.Is(err, transport.ErrNoMemory):
		return C.GO_MEMORY
	case errors.Is(err, transport.ErrBadAddr), core.CodeOf(err) == core.CodeAddress:
		return C.GO_RANGE
	}
	return C.GO_OTHER
}

// shapeOf is the shape of a datatype, made at first use; nil if elements are consecutive memory.
func shapeOf(t *C.struct_rma_type) *window.Shape {
	if t.dense {
		return nil
	}
	if h := C.shape_of(t); h != 0 {
		return cgo.Handle(h).Value().(*window.Shape)
	}
	runs := make([]window.Run, t.nruns)
	for i, r := range unsafe.Slice(t.runs, int(t.nruns)) {
		runs[i] = window.Run{Offset: int64(r.offset), Bytes: int64(r.bytes)}
	}
	s := window.NewShape(runs, int64(t.extent))
	if h := cgo.NewHandle(s); !C.set_shape(t, C.uintptr_t(h)) {
		h.Delete() // another thread was faster
	}
	return s
}

//export mpirmago_release_shape
func mpirmago_release_shape(shape C.uintptr_t) {
	defer guest.Guard(guest.Faults())
	cgo.Handle(shape).Delete()
}

func sideOf(s *C.struct_rma_side) window.Side {
	shape := shapeOf(s._type)
	n := int64(s.count)
	if shape == nil {
		n *= int64(s._type.bytes)
	}
	return window.Side{Addr: uintptr(s.addr), Count: n, Shape: shape}
}

//export mpirmago_call
func mpirmago_call(c *C.struct_rma_call) C.int {
	defer guest.Guard(guest.Faults())
	rt := lib.rt.Load()
	var err error
	switch c.kind {
	case C.RMA_PUT, C.RMA_GET:
		t := window.Transfer{Kind: core.Put, Proc: int(c.proc), Local: sideOf(&c.local),
			Remote:  sideOf(&c.remote),
			Trusted: bool(c.trusted), Explicit: bool(c.explicit_wait)}
		if c.kind == C.RMA_GET {
			t.Kind = core.Get
		}
		var number int32
		number, err = window.Start(rt, &t)
		c.number = C.int32_t(number)
	case C.RMA_UPDATE:
		var number int32
		number, err = updateOf(c).Start(rt)
		c.number = C.int32_t(number)
	case C.RMA_CAS:
		n := int(c.remote._type.size)
		err = rt.CompareSwap(int(c.proc), uintptr(c.remote.addr), n,
			bytesAt(uintptr(unsafe.Pointer(c.compare)), n),
			bytesAt(uintptr(c.local.addr), n), bytesAt(uintptr(c.result.addr), n),
			bool(c.trusted))
	}
	return result(err, &c.text[0])
}

// updateOf converts an accumulate of C.
func updateOf(c *C.struct_rma_call) *window.Update {
	u := &window.Update{Proc: int(c.proc), Op: kernel.UpdateOp(c.op),
		Type:   kernel.UpdateType(c.element),
		Remote: sideOf(&c.remote), Trusted: bool(c.trusted),
		Explicit: bool(c.explicit_wait)}
	if u.Op != kernel.OpNoOp {
		u.Local = sideOf(&c.local)
	}
	if c.fetches {
		r := sideOf(&c.result)
		u.Result = &r
	}
	return u
}

func bytesAt(addr uintptr, n int) []byte { return unsafe.Slice((*byte)(kernel.Ptr(addr)), n) }

//export mpirmago_test
func mpirmago_test(number C.int32_t) C.int {
	defer guest.Guard(guest.Faults())
	done, err := lib.rt.Load().Test(int32(number))
	if err != nil {
		ended(err)
	}
	if done {
		return 1
	}
	return 0
}

//export mpirmago_wait
func mpirmago_wait(number C.int32_t) {
	defer guest.Guard(guest.Faults())
	if err := lib.rt.Load().Wait(int32(number)); err != nil {
		ended(err)
	}
}

//export mpirmago_flush
func mpirmago_flush(world C.int, text *C.char) C.int {
	defer guest.Guard(guest.Faults())
	return result(lib.rt.Load().Fence(int(world)), text)
}

//export mpirmago_flush_local
func mpirmago_flush_local(world C.int, text *C.char) C.int {
	defer guest.Guard(guest.Faults())
	return result(lib.rt.Load().WaitProc(int(world)), text)
}

// mpirmago_lock takes a target's lock, and tells how it is held.
//
//export mpirmago_lock
func mpirmago_lock(world C.int, lock, word C.uintptr_t, exclusive C.int, way *C.uint8_t,
	text *C.char) C.int {
	defer guest.Guard(guest.Faults())
	rt := lib.rt.Load()
	how, err := rt.RWLockBy(int(world), uintptr(lock), uintptr(word), exclusive != 0)
	*way = C.uint8_t(how)
	return result(err, text)
}

//export mpirmago_unlock
func mpirmago_unlock(world C.int, lock, word C.uintptr_t, exclusive C.int, way C.uint8_t,
	text *C.char) C.int {
	defer guest.Guard(guest.Faults())
	how, proc := core.LockWay(way), int(world)
	err := lib.rt.Load().RWUnlockBy(how, proc, uintptr(lock), uintptr(word), exclusive != 0)
	return result(err, text)
}

// mpirmago_add_lock_word gives a lock of this rank a word, if there is one left.
//
//export mpirmago_add_lock_word
func mpirmago_add_lock_word(lock C.uintptr_t) {
	defer guest.Guard(guest.Faults())
	lib.rt.Load().AddLockWord(uintptr(lock))
}

//export mpirmago_free_lock_word
func mpirmago_free_lock_word(word C.uint64_t) {
	defer guest.Guard(guest.Faults())
	lib.rt.Load().FreeLockWord(uintptr(word))
}

// mpirmago_raise raises an event by one, in the block [lo, hi) of a rank.
//
//export mpirmago_raise
func mpirmago_raise(world C.int, event, record, lo, hi C.uintptr_t, text *C.char) C.int {
	defer guest.Guard(guest.Faults())
	rt := lib.rt.Load()
	err := rt.EventRaise(int(world), uintptr(event), uintptr(record))
	if err == nil {
		rt.AddRange(int(world), uintptr(event), uintptr(lo), uintptr(hi))
	}
	return result(err, text)
}

// mpirmago_add raises an event by one, by a message.
//
//export mpirmago_add
func mpirmago_add(world C.int, event C.uintptr_t, text *C.char) C.int {
	defer guest.Guard(guest.Faults())
	return result(lib.rt.Load().EventAdd(int(world), uintptr(event), 1), text)
}

// mpirmago_tell has the waiters of an event woken that the fast path has written.
//
//export mpirmago_tell
func mpirmago_tell(world C.int, event C.uintptr_t, count C.uint32_t, text *C.char) C.int {
	defer guest.Guard(guest.Faults())
	err := lib.rt.Load().WakeEventWaiters(int(world), uintptr(event), uint32(count))
	return result(err, text)
}

// mpirmago_await sleeps until an event that a rank raises differs from what was seen.
//
//export mpirmago_await
func mpirmago_await(world C.int, event, record C.uintptr_t, seen C.uint32_t, function,
	text *C.char) C.int {
	defer guest.Guard(guest.Faults())
	_, err := lib.rt.Load().EventAwait(int(world), uintptr(event), uintptr(record),
		uint32(seen), -1, C.GoString(function))
	return result(err, text)
}

// mpirmago_add_range lets the fast path put to memory of a rank, around an address.
//
//export mpirmago_add_range
func mpirmago_add_range(world C.int, addr, lo, hi C.uint64_t) {
	defer guest.Guard(guest.Faults())
	lib.rt.Load().AddRange(int(world), uintptr(addr), uintptr(lo), uintptr(hi))
}
