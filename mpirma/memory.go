// SPDX-License-Identifier: BSD-3-Clause

// Memory of windows: in the node's arena, or the program's own, which other processes reach by the
// kernel.
package main

// #include "window.h"
import "C"

import (
	"unsafe"

	"libarmci/internal/guest"
	"libarmci/internal/transport"
)

//export mpirmago_allocate
func mpirmago_allocate(nbytes C.int64_t, zeroed C.int, addr *C.uintptr_t, text *C.char) C.int {
	defer guest.Guard(guest.Faults())
	rt := lib.rt.Load()
	allocate := rt.MallocOnTouch
	if zeroed != 0 {
		allocate = rt.MallocLocal
	}
	at, err := allocate(int64(nbytes))
	if err == nil && zeroed != 0 {
		clear(bytesAt(at, int(nbytes)))
	}
	*addr = C.uintptr_t(at)
	return result(err, text)
}

//export mpirmago_release
func mpirmago_release(addr C.uintptr_t, text *C.char) C.int {
	defer guest.Guard(guest.Faults())
	return result(lib.rt.Load().FreeLocal(uintptr(addr)), text)
}

// mpirmago_owned tells whether memory is of an allocation of mine in the arena.
//
//export mpirmago_owned
func mpirmago_owned(addr C.uintptr_t, nbytes C.int64_t) C.int {
	defer guest.Guard(guest.Faults())
	rt := lib.rt.Load()
	if rt.Memory.InArena(uintptr(addr)) &&
		rt.Memory.InRegionOf(rt.Topo.Local(rt.Me), uintptr(addr),
			int64(nbytes)) {
		return 1
	}
	return 0
}

//export mpirmago_expose
func mpirmago_expose(addr C.uintptr_t, nbytes C.int64_t, text *C.char) C.int {
	defer guest.Guard(guest.Faults())
	return result(lib.rt.Load().Expose(uintptr(addr), int64(nbytes)), text)
}

//export mpirmago_conceal
func mpirmago_conceal(addr C.uintptr_t, nbytes C.int64_t, text *C.char) C.int {
	defer guest.Guard(guest.Faults())
	return result(lib.rt.Load().Conceal(uintptr(addr), int64(nbytes)), text)
}

// mpirmago_lend makes exposed memory accessible to devices of other nodes; 0: it is not.
//
//export mpirmago_lend
func mpirmago_lend(addr C.uintptr_t, nbytes C.int64_t, key *C.uint64_t) C.int {
	defer guest.Guard(guest.Faults())
	k, ok := lib.rt.Load().Lend(uintptr(addr), int64(nbytes))
	if !ok {
		return 0
	}
	*key = C.uint64_t(k)
	return 1
}

// mpirmago_recall ends the use of a key that no other rank has any more.
//
//export mpirmago_recall
func mpirmago_recall(key C.uint64_t) {
	defer guest.Guard(guest.Faults())
	lib.rt.Load().Recall(uint64(key))
}

//export mpirmago_learn
func mpirmago_learn(world C.int, addr C.uint64_t, nbytes C.int64_t, key C.uint64_t) {
	defer guest.Guard(guest.Faults())
	lib.rt.Load().LearnLoan(int(world), uintptr(addr), int64(nbytes), uint64(key))
}

//export mpirmago_forget
func mpirmago_forget(world C.int, addr C.uint64_t, nbytes C.int64_t, key C.uint64_t) {
	defer guest.Guard(guest.Faults())
	lib.rt.Load().ForgetLoan(int(world), uintptr(addr), int64(nbytes), uint64(key))
}

// mpirmago_here tells whether a rank is of my node.
//
//export mpirmago_here
func mpirmago_here(world C.int) C.int {
	defer guest.Guard(guest.Faults())
	if lib.rt.Load().Topo.SameNode(transport.Rank(world)) {
		return 1
	}
	return 0
}

var _ unsafe.Pointer
