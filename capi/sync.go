// SPDX-License-Identifier: BSD-3-Clause

// Handles, waits, fences, barrier, read-modify-write and notification: conversion for core.
package main

// #include "front.h"
// void front_count_aggregates(int change);
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"libarmci/internal/core"
	"libarmci/internal/guest"
	"libarmci/internal/transport"
)

//export armcigo_set_aggregate
func armcigo_set_aggregate(h *C.armci_hdl_t) {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_SET_AGGREGATE_HANDLE",
		func() string { return fmt.Sprintf("handle at %#x", uintptr(unsafe.Pointer(h))) })
	if err == nil && h == nil {
		err = &core.ArgError{Arg: "nb_handle", Text: "null pointer",
			Code: core.CodeArgument}
	}
	endJobOnError("ARMCI_SET_AGGREGATE_HANDLE", err)
	if rt.SetAggregate(uintptr(unsafe.Pointer(h))) {
		C.front_count_aggregates(1)
	}
}

//export armcigo_unset_aggregate
func armcigo_unset_aggregate(h *C.armci_hdl_t) {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_UNSET_AGGREGATE_HANDLE",
		func() string { return fmt.Sprintf("handle at %#x", uintptr(unsafe.Pointer(h))) })
	endJobOnError("ARMCI_UNSET_AGGREGATE_HANDLE", err)
	was, err := rt.UnsetAggregate(uintptr(unsafe.Pointer(h)))
	if was {
		C.front_count_aggregates(-1)
	}
	endJobOnError("ARMCI_UNSET_AGGREGATE_HANDLE", err)
}

//export armcigo_wait
func armcigo_wait(h *C.armci_hdl_t) C.int {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_Wait",
		func() string { return fmt.Sprintf("handle at %#x", uintptr(unsafe.Pointer(h))) })
	if err == nil && h == nil {
		err = &core.ArgError{Arg: "nb_handle", Text: "null pointer",
			Code: core.CodeArgument}
	}
	if err != nil {
		return code("ARMCI_Wait", err)
	}
	if err := rt.WaitAggregate(uintptr(unsafe.Pointer(h))); err != nil {
		return code("ARMCI_Wait", err)
	}
	id := (*int32)(unsafe.Pointer(h))
	err = rt.Wait(*id)
	*id = core.Done
	return code("ARMCI_Wait", err)
}

// armcigo_test: 0: complete. It first executes the operations that an aggregate handle has
// collected.
//
//export armcigo_test
func armcigo_test(h *C.armci_hdl_t) C.int {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_Test",
		func() string { return fmt.Sprintf("handle at %#x", uintptr(unsafe.Pointer(h))) })
	if err == nil && h == nil {
		err = &core.ArgError{Arg: "nb_handle", Text: "null pointer",
			Code: core.CodeArgument}
	}
	if err != nil {
		return code("ARMCI_Test", err)
	}
	if err := rt.WaitAggregate(uintptr(unsafe.Pointer(h))); err != nil {
		return code("ARMCI_Test", err)
	}
	id := (*int32)(unsafe.Pointer(h))
	done, err := rt.Test(*id)
	if !done {
		return 1
	}
	*id = core.Done
	return code("ARMCI_Test", err)
}

//export armcigo_wait_proc
func armcigo_wait_proc(proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_WaitProc",
		func() string { return fmt.Sprintf("rank %d", proc) })
	if err == nil {
		err = rt.WaitProc(int(proc))
	}
	return code("ARMCI_WaitProc", err)
}

//export armcigo_wait_all
func armcigo_wait_all() C.int {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_WaitAll")
	if err == nil {
		err = rt.WaitAll()
	}
	return code("ARMCI_WaitAll", err)
}

//export armcigo_fence
func armcigo_fence(name *C.char, proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	rt, err := initialised(literal(name), func() string { return fmt.Sprintf("rank %d", proc) })
	if err == nil {
		err = rt.Fence(int(proc))
	}
	return code(literal(name), err)
}

//export armcigo_all_fence
func armcigo_all_fence() C.int {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_AllFence")
	if err == nil {
		err = rt.AllFence()
	}
	return code("ARMCI_AllFence", err)
}

//export armcigo_group_fence
func armcigo_group_fence(g *C.ARMCI_Group) {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_GroupFence")
	if err == nil && g == nil {
		err = rt.AllFence()
	} else if err == nil {
		var grp *core.Group
		if grp, err = rt.Group(int(C.front_group(g))); err == nil {
			err = rt.GroupFence(grp)
		}
	}
	endJobOnError("ARMCI_GroupFence", err)
}

//export armcigo_barrier
func armcigo_barrier(name *C.char, fence C.int) {
	defer guest.Guard(guest.Faults())
	find := running
	if fence != 0 {
		find = initialised
	}
	rt, err := find(literal(name))
	if err == nil && fence != 0 {
		err = rt.AllFence()
	}
	endJobOnError(literal(name), err)
	rt.Barrier()
}

// words are descriptors of read-modify-writes, for reuse: the calls are complete when they return.
var words = sync.Pool{New: func() any { return new(transport.RMW) }}

//export armcigo_rmw
func armcigo_rmw(op C.int, ploc, prem unsafe.Pointer, extra, proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCI_Rmw"
	rt, err := initialised(name, func() string {
		return fmt.Sprintf("op %d, local %#x, rank %d at %#x, extra %d", op, uintptr(ploc),
			proc, uintptr(prem), extra)
	})
	if err != nil {
		return code(name, err)
	}
	what, bytes, ok := core.RMWCode(int(op))
	if !ok {
		return code(name, &core.ArgError{Arg: "op", Text: fmt.Sprintf("%d is no operation",
			int(op)), Code: core.CodeOp})
	}
	if ploc == nil {
		return code(name, &core.ArgError{Arg: "ploc", Text: "null pointer",
			Code: core.CodeArgument})
	}
	x := words.Get().(*transport.RMW)
	defer words.Put(x)
	*x = transport.RMW{Op: what, Bytes: bytes, Addr: uintptr(prem), Operand: int64(extra)}
	if what == transport.Swap {
		x.Operand = load(ploc, bytes)
	}
	if err := rt.RMW(int(proc), x); err != nil {
		return code(name, err)
	}
	store(ploc, bytes, x.Old)
	return 0
}

func load(p unsafe.Pointer, bytes int) int64 {
	if bytes == 4 {
		return int64(*(*int32)(p))
	}
	return *(*int64)(p)
}

func store(p unsafe.Pointer, bytes int, v int64) {
	if bytes == 4 {
		*(*int32)(p) = int32(v)
	} else {
		*(*int64)(p) = v
	}
}

//export armcigo_notify
func armcigo_notify(proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("armci_notify",
		func() string { return fmt.Sprintf("rank %d", proc) })
	if err != nil {
		return code("armci_notify", err)
	}
	n, err := rt.Notify(int(proc))
	if err != nil {
		return code("armci_notify", err)
	}
	return C.int(n)
}

//export armcigo_notify_wait
func armcigo_notify_wait(proc C.int, want C.uint32_t, pval *C.int) C.int {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("armci_notify_wait",
		func() string { return fmt.Sprintf("rank %d", proc) })
	if err != nil {
		return code("armci_notify_wait", err)
	}
	received, waited := 0, int(want)
	if want != 0 { // C has counted the call and checked its rank
		received, err = rt.NotifyWaitFor(int(proc), uint32(want))
	} else {
		received, waited, err = rt.NotifyWait(int(proc))
	}
	if err != nil {
		return code("armci_notify_wait", err)
	}
	if pval != nil {
		*pval = C.int(waited)
	}
	return C.int(received)
}

//export armcigo_tell_notified
func armcigo_tell_notified(proc C.int, count C.uint32_t) C.int {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("armci_notify",
		func() string { return fmt.Sprintf("rank %d", proc) })
	if err == nil {
		err = rt.WakeNotified(int(proc), uint32(count))
	}
	return code("armci_notify", err)
}
