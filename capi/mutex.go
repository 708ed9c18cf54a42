// SPDX-License-Identifier: BSD-3-Clause

// Mutexes, of the job and in sets with handles: conversion for core.
package main

// #include <stdlib.h>
// #include "front.h"
// void front_add_mutexes(uintptr_t handle, uint8_t **first, int *count);
// void front_drop_mutexes(uintptr_t handle);
import "C"

import (
	"fmt"
	"runtime/cgo"
	"unsafe"

	"libarmci/internal/core"
	"libarmci/internal/guest"
	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

//export armcigo_create_mutexes
func armcigo_create_mutexes(num C.int) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCI_Create_mutexes"
	rt, err := initialised(name, func() string { return fmt.Sprintf("%d", num) })
	if err == nil {
		err = rt.CreateMutexes(int(num))
	}
	if err == nil {
		publishMutexes(rt, ofJob, rt.DefaultMutexes())
	}
	return code(name, err)
}

// ofJob stands for the default set, which has no handle.
const ofJob cgo.Handle = 0

// publishMutexes gives C the addresses of a set on this node. Without memory for them each lock is
// one of Go.
func publishMutexes(rt *core.Runtime, handle cgo.Handle, s *core.MutexSet) {
	if !fastWanted(rt) {
		return
	}
	firsts, counts := C.calloc(C.size_t(rt.N), 8), C.calloc(C.size_t(rt.N), C.sizeof_int)
	if firsts == nil || counts == nil {
		C.free(firsts)
		C.free(counts)
		return
	}
	first := unsafe.Slice((**C.uint8_t)(firsts), rt.N)
	count := unsafe.Slice((*C.int)(counts), rt.N)
	for rank := range rt.N { // addresses of other nodes are for their data servers
		if at, n := s.MutexesOf(transport.Rank(rank)); n > 0 {
			first[rank], count[rank] = (*C.uint8_t)(kernel.Ptr(at)), C.int(n)
		}
	}
	C.front_add_mutexes(C.uintptr_t(handle), &first[0], &count[0])
}

func dropMutexes(handle cgo.Handle) { C.front_drop_mutexes(C.uintptr_t(handle)) }

//export armcigo_destroy_mutexes
func armcigo_destroy_mutexes() C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCI_Destroy_mutexes"
	rt, err := initialised(name)
	if err == nil {
		dropMutexes(ofJob)
		err = rt.DestroyMutexes()
	}
	return code(name, err)
}

//export armcigo_lock
func armcigo_lock(mutex, proc C.int) {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_Lock",
		func() string { return fmt.Sprintf("mutex %d of rank %d", mutex, proc) })
	if err == nil {
		err = rt.Lock(rt.DefaultMutexes(), int(mutex), int(proc))
	}
	endJobOnError("ARMCI_Lock", err)
}

//export armcigo_unlock
func armcigo_unlock(mutex, proc C.int) {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_Unlock",
		func() string { return fmt.Sprintf("mutex %d of rank %d", mutex, proc) })
	if err == nil {
		err = rt.Unlock(rt.DefaultMutexes(), int(mutex), int(proc))
	}
	endJobOnError("ARMCI_Unlock", err)
}

// Handles of armcix.h are opaque pointers; their values are those of a cgo.Handle.

//export armcigo_mutex_set
func armcigo_mutex_set(count, group C.int) C.uintptr_t {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Create_mutexes_hdl"
	rt, g, err := groupFor(name, group, func() string { return fmt.Sprintf("%d", count) })
	var s *core.MutexSet
	if err == nil {
		s, err = rt.NewMutexes(g, int(count))
	}
	if code(name, err) != 0 {
		return 0
	}
	hdl := cgo.NewHandle(s)
	publishMutexes(rt, hdl, s)
	return C.uintptr_t(hdl)
}

// mutexSetOf returns the set of a handle. ok is false if hdl is not one.
func mutexSetOf(hdl C.uintptr_t) (s *core.MutexSet, ok bool) {
	defer func() { recover() }() // Value panics if hdl is no handle, or one that was destroyed
	s, ok = cgo.Handle(hdl).Value().(*core.MutexSet)
	return s, ok
}

// setOf is initialised for a call with a mutex handle. It fails if hdl is not one.
func setOf(name string, hdl C.uintptr_t, args ...argsOf) (*core.Runtime, *core.MutexSet, error) {
	rt, err := initialised(name, args...)
	if err != nil {
		return nil, nil, err
	}
	if s, ok := mutexSetOf(hdl); ok {
		return rt, s, nil
	}
	return nil, nil, &core.ArgError{Arg: "hdl", Text: "not a mutex handle",
		Code: core.CodeArgument}
}

//export armcigo_mutex_set_free
func armcigo_mutex_set_free(hdl C.uintptr_t) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Destroy_mutexes_hdl"
	rt, s, err := setOf(name, hdl)
	if err == nil {
		dropMutexes(cgo.Handle(hdl))
		cgo.Handle(hdl).Delete()
		err = rt.FreeMutexes(s)
	}
	return code(name, err)
}

//export armcigo_lock_hdl
func armcigo_lock_hdl(hdl C.uintptr_t, mutex, proc C.int) {
	defer guest.Guard(guest.Faults())
	rt, s, err := setOf("ARMCIX_Lock_hdl", hdl,
		func() string { return fmt.Sprintf("mutex %d of rank %d", mutex, proc) })
	if err == nil {
		err = rt.Lock(s, int(mutex), int(proc))
	}
	endJobOnError("ARMCIX_Lock_hdl", err)
}

// armcigo_holds_mutex notes that this rank holds a mutex of another node, which C has locked. hdl
// is 0 for the default set.
//
//export armcigo_holds_mutex
func armcigo_holds_mutex(hdl C.uintptr_t, mutex, proc C.int) {
	defer guest.Guard(guest.Faults())
	const name = "ARMCI_Lock"
	rt, err := initialised(name)
	if err == nil {
		s := rt.DefaultMutexes()
		if hdl != 0 {
			_, s, err = setOf(name, hdl)
		}
		if s != nil {
			s.RecordHeld(int(mutex), int(proc))
		}
	}
	endJobOnError(name, err)
}

// armcigo_trylock_hdl: 0: the caller holds the mutex now.
//
//export armcigo_trylock_hdl
func armcigo_trylock_hdl(hdl C.uintptr_t, mutex, proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	rt, s, err := setOf("ARMCIX_Trylock_hdl", hdl,
		func() string { return fmt.Sprintf("mutex %d of rank %d", mutex, proc) })
	got := false
	if err == nil {
		got, err = rt.TryLock(s, int(mutex), int(proc))
	}
	endJobOnError("ARMCIX_Trylock_hdl", err)
	if got {
		return 0
	}
	return 1
}

//export armcigo_unlock_hdl
func armcigo_unlock_hdl(hdl C.uintptr_t, mutex, proc C.int) {
	defer guest.Guard(guest.Faults())
	rt, s, err := setOf("ARMCIX_Unlock_hdl", hdl,
		func() string { return fmt.Sprintf("mutex %d of rank %d", mutex, proc) })
	if err == nil {
		err = rt.Unlock(s, int(mutex), int(proc))
	}
	endJobOnError("ARMCIX_Unlock_hdl", err)
}
