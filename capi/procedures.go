// SPDX-License-Identifier: BSD-3-Clause

// Global procedure calls: conversion for core. A call's handle holds a token for the Go function
// that waits.
package main

// #include <stdlib.h>
// #include "front.h"
// void procedures_run(void *func, int me, int from, void *hdr, int hlen, void *data, int dlen,
// 	void *rhdr, int *rhlen, void *rdata, int *rdlen);
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"libarmci/internal/core"
	"libarmci/internal/guest"
)

// C and Go have the same limit: the build fails if either is greater.
var (
	_ [core.MaxProcedure - C.FRONT_GPC_BYTES]struct{}
	_ [C.FRONT_GPC_BYTES - core.MaxProcedure]struct{}
)

// calls are the nonblocking calls that wait for their reply.
var calls struct {
	mu   sync.Mutex // guards the rest
	next int32
	open map[int32]func() error
}

//export armcigo_gpc_register
func armcigo_gpc_register(f unsafe.Pointer) C.int {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_Gpc_register",
		func() string { return fmt.Sprintf("function at %#x", uintptr(f)) })
	endJobOnError("ARMCI_Gpc_register", err)
	if f == nil {
		return 0
	}
	defer rt.Barrier() // callable on every rank on return
	return C.int(rt.GPCRegister(func(from int, head, data []byte, hcap, dcap int) ([]byte,
		[]byte) {
		return runProcedure(f, int(rt.Me), from, head, data, hcap, dcap)
	}))
}

// runProcedure gives the handler C memory, since it may keep pointers and write to its arguments.
func runProcedure(f unsafe.Pointer, me, from int, head, data []byte, hcap, dcap int) ([]byte,
	[]byte) {
	rh, rd := C.malloc(C.size_t(hcap+1)), C.malloc(C.size_t(dcap+1))
	h, d := C.CBytes(head), C.CBytes(data)
	defer func() {
		for _, p := range []unsafe.Pointer{rh, rd, h, d} {
			C.free(p)
		}
	}()
	rhlen, rdlen := C.int(hcap), C.int(dcap)
	C.procedures_run(f, C.int(me), C.int(from), h, C.int(len(head)), d, C.int(len(data)), rh,
		&rhlen, rd, &rdlen)
	return C.GoBytes(rh, rhlen), C.GoBytes(rd, rdlen)
}

//export armcigo_gpc_release
func armcigo_gpc_release(h C.int) {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_Gpc_release",
		func() string { return fmt.Sprintf("procedure %d", h) })
	if err == nil {
		err = rt.GPCRelease(int(h))
	}
	endJobOnError("ARMCI_Gpc_release", err)
}

//export armcigo_gpc_exec
func armcigo_gpc_exec(h, p C.int, hdr unsafe.Pointer, hlen C.int, data unsafe.Pointer, dlen C.int,
	rhdr unsafe.Pointer,
	rhlen C.int, rdata unsafe.Pointer, rdlen C.int, nbh *C.gpc_hdl_t) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCI_Gpc_exec"
	rt, err := initialised(name, func() string {
		return fmt.Sprintf("procedure %d at rank %d, header %d bytes, data %d bytes, "+
			"reply at most %d and %d bytes",
			h, p, hlen, dlen, rhlen, rdlen)
	})
	if err == nil && (hlen < 0 || dlen < 0 || rhlen < 0 || rdlen < 0) {
		err = &core.ArgError{Arg: "length", Text: "negative", Code: core.CodeBytes}
	}
	if err != nil {
		return code(name, err)
	}
	wait, err := rt.CallProcedure(int(h), int(p), C.GoBytes(hdr, hlen), C.GoBytes(data, dlen),
		int(rhlen), int(rdlen))
	if err != nil {
		return code(name, err)
	}
	finish := func() error {
		head, body, err := wait()
		if err == nil {
			copy(bytesAt(rhdr, rhlen), head)
			copy(bytesAt(rdata, rdlen), body)
		}
		return err
	}
	if nbh == nil {
		return code(name, finish())
	}
	nbh.proc = p
	*(*int32)(unsafe.Pointer(&nbh.ahdl)) = addCall(finish)
	return 0
}

func addCall(f func() error) int32 {
	calls.mu.Lock()
	defer calls.mu.Unlock()
	if calls.open == nil {
		calls.open = map[int32]func() error{}
	}
	calls.next++
	calls.open[calls.next] = f
	return calls.next
}

//export armcigo_gpc_wait
func armcigo_gpc_wait(nbh *C.gpc_hdl_t) {
	defer guest.Guard(guest.Faults())
	id := (*int32)(unsafe.Pointer(&nbh.ahdl))
	calls.mu.Lock()
	f := calls.open[*id]
	delete(calls.open, *id)
	calls.mu.Unlock()
	*id = core.Done
	if f != nil {
		endJobOnError("ARMCI_Gpc_wait", f())
	}
}

// ownMutex is the mutex that every rank has for its procedures.
func ownMutex(name string, proc C.int) (*core.Runtime, uintptr) {
	rt, err := initialised(name, func() string { return fmt.Sprintf("rank %d", proc) })
	if err == nil && int(rt.Me) != int(proc) {
		err = &core.ArgError{Arg: "proc", Text: "only the own rank's mutex can be locked",
			Code: core.CodeProc}
	}
	endJobOnError(name, err)
	return rt, rt.Locks.RankMutex(rt.Topo.Local(rt.Me))
}

//export armcigo_gpc_lock
func armcigo_gpc_lock(proc C.int) {
	defer guest.Guard(guest.Faults())
	rt, m := ownMutex("ARMCI_Gpc_lock", proc)
	rt.Locks.Lock(m, rt.Me)
}

//export armcigo_gpc_unlock
func armcigo_gpc_unlock(proc C.int) {
	defer guest.Guard(guest.Faults())
	rt, m := ownMutex("ARMCI_Gpc_unlock", proc)
	rt.Locks.Unlock(m)
}

//export armcigo_gpc_trylock
func armcigo_gpc_trylock(proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	rt, m := ownMutex("ARMCI_Gpc_trylock", proc)
	if rt.Locks.TryLock(m, rt.Me) {
		return 1
	}
	return 0
}
