// SPDX-License-Identifier: BSD-3-Clause

// Atomic operations and events of armcix.h: conversion for core.
package main

// #include "front.h"
import "C"

import (
	"fmt"
	"unsafe"

	"libarmci/internal/core"
	"libarmci/internal/guest"
	"libarmci/internal/transport"
)

// atomicOf converts the arguments of an atomic operation.
func atomicOf(x *transport.RMW, op, bytes C.int, old, prem, operand, compare unsafe.Pointer) error {
	what, ok := transport.RMWOpOfC(int(op))
	switch {
	case !ok:
		return &core.ArgError{Arg: "op", Text: fmt.Sprintf("%d is no operation", int(op)),
			Code: core.CodeOp}
	case bytes != 4 && bytes != 8:
		return &core.ArgError{Arg: "bytes", Text: fmt.Sprintf("%d is neither 4 nor 8",
			int(bytes)), Code: core.CodeOp}
	case operand == nil:
		return &core.ArgError{Arg: "operand", Text: "null pointer", Code: core.CodeArgument}
	case what == transport.CompareAndSwap && compare == nil:
		return &core.ArgError{Arg: "compare", Text: "null pointer", Code: core.CodeArgument}
	}
	*x = transport.RMW{Op: what, Bytes: int(bytes), Addr: uintptr(prem),
		Operand: load(operand, int(bytes)), Posted: old == nil}
	if what == transport.CompareAndSwap {
		x.Compare = load(compare, int(bytes))
	}
	return nil
}

//export armcigo_atomic
func armcigo_atomic(op, bytes C.int, old, prem, operand, compare unsafe.Pointer, proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Atomic"
	rt, err := initialised(name, func() string {
		return fmt.Sprintf("op %d of %d bytes, old value to %#x, rank %d at %#x", op, bytes,
			uintptr(old), proc, uintptr(prem))
	})
	if err != nil {
		return code(name, err)
	}
	x := words.Get().(*transport.RMW)
	defer words.Put(x)
	if err = atomicOf(x, op, bytes, old, prem, operand, compare); err == nil {
		err = rt.RMW(int(proc), x)
	}
	if err == nil && old != nil {
		store(old, int(bytes), x.Old)
	}
	return code(name, err)
}

//export armcigo_event_add
func armcigo_event_add(event unsafe.Pointer, n C.uint, proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Event_add"
	rt, err := initialised(name,
		func() string { return fmt.Sprintf("%d, rank %d at %#x", n, proc, uintptr(event)) })
	if err == nil {
		err = rt.EventAdd(int(proc), uintptr(event), uint32(n))
	}
	return code(name, err)
}

//export armcigo_event_raise
func armcigo_event_raise(event, record unsafe.Pointer, proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Event_raise"
	rt, err := initialised(name, func() string {
		return fmt.Sprintf("rank %d at %#x, record at %#x", proc, uintptr(event),
			uintptr(record))
	})
	if err == nil {
		err = rt.EventRaise(int(proc), uintptr(event), uintptr(record))
	}
	return code(name, err)
}

// armcigo_event_tell has the waiters of an event woken that the fast path has written.
//
//export armcigo_event_tell
func armcigo_event_tell(event unsafe.Pointer, count C.uint32_t, proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	return code("ARMCIX_Event_raise", lib.rt.Load().WakeEventWaiters(int(proc), uintptr(event),
		uint32(count)))
}

//export armcigo_event_await
func armcigo_event_await(event, record unsafe.Pointer, seen C.uint, millis, proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Event_await"
	rt, err := initialised(name, func() string {
		return fmt.Sprintf("at %#x, record at %#x of rank %d, seen %d, %d ms",
			uintptr(event), uintptr(record), proc, seen, millis)
	})
	if err != nil {
		return code(name, err)
	}
	changed, err := rt.EventAwait(int(proc), uintptr(event), uintptr(record), uint32(seen),
		int(millis), name)
	if err == nil && !changed {
		return 1
	}
	return code(name, err)
}

//export armcigo_event_wait
func armcigo_event_wait(event unsafe.Pointer, seen C.uint, millis C.int) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Event_wait"
	rt, err := initialised(name, func() string {
		return fmt.Sprintf("at %#x, seen %d, %d ms",
			uintptr(event), seen, millis)
	})
	if err != nil {
		return code(name, err)
	}
	changed, err := rt.EventWait(uintptr(event), uint32(seen), int(millis), name)
	if err == nil && !changed {
		return 1
	}
	return code(name, err)
}

// armcigo_wait_until checks a call of ARMCIX_Wait_until that the fast path does not make, and
// prepares the wait.
//
//export armcigo_wait_until
func armcigo_wait_until(met unsafe.Pointer, millis C.int) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Wait_until"
	rt, err := initialised(name, func() string { return fmt.Sprintf("%d ms", millis) })
	if err == nil {
		err = rt.BeginWaitUntil(met != nil)
	}
	return code(name, err)
}

// armcigo_wake is ARMCIX_Wake where the fast path is off.
//
//export armcigo_wake
func armcigo_wake(proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Wake"
	rt, err := initialised(name, func() string { return fmt.Sprintf("rank %d", proc) })
	if err == nil {
		err = rt.WakeWaiters(int(proc))
	}
	return code(name, err)
}

// armcigo_local returns the local number of a rank; -1: it is not of this node.
//
//export armcigo_local
func armcigo_local(proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCIX_Sleepers", func() string {
		return fmt.Sprintf("rank %d", proc)
	})
	if err != nil || proc < 0 || int(proc) >= rt.N || !rt.Topo.SameNode(transport.Rank(proc)) {
		return -1
	}
	return C.int(rt.Topo.Local(transport.Rank(proc)))
}
