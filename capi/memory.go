// SPDX-License-Identifier: BSD-3-Clause

// Allocation and mutexes: conversion for core.
package main

// #include <stdlib.h>
// #include "front.h"
// void front_set_mutexes(uint8_t **bases, int *counts);
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/mattn/go-pointer"
	"libarmci/internal/core"
	"libarmci/internal/guest"
	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

func groupFor(name string, id C.int, args ...argsOf) (*core.Runtime, *core.Group, error) {
	rt, err := initialised(name, func() string {
		line := fmt.Sprintf("group %d", id)
		for _, a := range args {
			line += ", " + a()
		}
		return line
	})
	if err != nil {
		return nil, nil, err
	}
	g, err := rt.Group(int(id))
	return rt, g, err
}

// atomicsOfDevice is the kind of memory whose longs are changed by atomics of network devices. All other kinds are the same.
const atomicsOfDevice = "rdma-atomics"

//export armcigo_malloc
func armcigo_malloc(cname *C.char, ptrs *unsafe.Pointer, bytes C.long, group C.int, device *C.char) C.int {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	rt, g, err := groupFor(name, group, func() string { return fmt.Sprintf("%d bytes", bytes) })
	if err == nil && ptrs == nil {
		err = &core.ArgError{Arg: "ptr_arr", Text: "null pointer", Code: core.CodeArgument}
	}
	if err != nil {
		return code(name, err)
	}
	allocate := rt.Malloc
	if device != nil && C.GoString(device) == atomicsOfDevice {
		allocate = rt.MallocDeclared
	}
	addrs, err := allocate(g, int64(bytes))
	if err != nil {
		return code(name, err)
	}
	copy(addresses(ptrs, len(addrs)), addrs)
	return 0
}

//export armcigo_free
func armcigo_free(cname *C.char, p unsafe.Pointer, group C.int) C.int {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	rt, g, err := groupFor(name, group, func() string { return fmt.Sprintf("%#x", uintptr(p)) })
	if err == nil {
		err = rt.Free(g, uintptr(p))
	}
	return code(name, err)
}

//export armcigo_malloc_local
func armcigo_malloc_local(cname *C.char, bytes C.long) unsafe.Pointer {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	rt, err := initialised(name, func() string { return fmt.Sprintf("%d bytes", bytes) })
	var addr uintptr
	if err == nil {
		addr, err = rt.MallocLocal(int64(bytes))
	}
	code(name, err)
	return kernel.Ptr(addr)
}

//export armcigo_free_local
func armcigo_free_local(cname *C.char, p unsafe.Pointer) C.int {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	rt, err := initialised(name, func() string { return fmt.Sprintf("%#x", uintptr(p)) })
	if err == nil {
		err = rt.FreeLocal(uintptr(p))
	}
	return code(name, err)
}

//export armcigo_memget
func armcigo_memget(bytes C.size_t, info *C.armci_meminfo_t, flags C.int) unsafe.Pointer {
	defer guest.Guard(guest.Faults())
	const name = "ARMCI_Memget"
	rt, err := initialised(name, func() string { return fmt.Sprintf("%d bytes", bytes) })
	switch {
	case err != nil:
	case info == nil:
		err = &core.ArgError{Arg: "meminfo", Text: "null pointer", Code: core.CodeArgument}
	case flags != 0:
		err = &core.ArgError{Arg: "memflg", Text: "must be 0", Code: core.CodeArgument}
	}
	must(name, err)
	addr, err := rt.MallocLocal(int64(bytes))
	must(name, err)
	return kernel.Ptr(addr)
}

//export armcigo_check_info
func armcigo_check_info(cname *C.char, info *C.armci_meminfo_t) C.int {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	_, err := initialised(name)
	if err == nil && info == nil {
		err = &core.ArgError{Arg: "meminfo", Text: "null pointer", Code: core.CodeArgument}
	}
	return code(name, err)
}

//export armcigo_uses_shm
func armcigo_uses_shm(group C.int) C.int {
	defer guest.Guard(guest.Faults())
	rt, g, err := groupFor("ARMCI_Uses_shm", group)
	must("ARMCI_Uses_shm", err)
	if g.Size() > rt.NodesOf(g) { // some members share a node
		return 1
	}
	return 0
}

// armcigo_access checks the pointer of ARMCI_Access_begin and _end; the memory itself is always coherent.
//
//export armcigo_access
func armcigo_access(cname *C.char, p unsafe.Pointer) {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	rt, err := initialised(name, func() string { return fmt.Sprintf("%#x", uintptr(p)) })
	must(name, err)
	if !rt.Memory.Owns(rt.Topo.Local(rt.Me), uintptr(p), 1) {
		end(name, &core.ArgError{Arg: "ptr", Text: "not in an allocation of this rank", Code: core.CodeArgument})
	}
	rt.Fence(int(rt.Me))
}

//export armcigo_create_mutexes
func armcigo_create_mutexes(num C.int) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCI_Create_mutexes"
	rt, err := initialised(name, func() string { return fmt.Sprintf("%d", num) })
	if err == nil {
		err = rt.CreateMutexes(int(num))
	}
	if err == nil && fastWanted(rt) {
		publishMutexes(rt)
	}
	return code(name, err)
}

// publishMutexes gives C the addresses of the default set on this node.
func publishMutexes(rt *core.Runtime) {
	s := rt.DefaultMutexes()
	bases := unsafe.Slice((**C.uint8_t)(C.calloc(C.size_t(rt.N), 8)), rt.N)
	counts := unsafe.Slice((*C.int)(C.calloc(C.size_t(rt.N), C.sizeof_int)), rt.N)
	for i := range rt.N {
		if s.Count(i) > 0 && rt.Topo.SameNode(transport.Rank(i)) { // addresses of other nodes are not valid here
			bases[i] = (*C.uint8_t)(kernel.Ptr(s.Base(i)))
			counts[i] = C.int(s.Count(i))
		}
	}
	C.front_set_mutexes(&bases[0], &counts[0])
}

func dropMutexes() { C.front_set_mutexes(nil, nil) }

//export armcigo_destroy_mutexes
func armcigo_destroy_mutexes() C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCI_Destroy_mutexes"
	rt, err := initialised(name)
	if err == nil {
		dropMutexes()
		err = rt.DestroyMutexes()
	}
	return code(name, err)
}

//export armcigo_lock
func armcigo_lock(mutex, proc C.int) {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_Lock", func() string { return fmt.Sprintf("mutex %d of rank %d", mutex, proc) })
	if err == nil {
		err = rt.Lock(rt.DefaultMutexes(), int(mutex), int(proc))
	}
	must("ARMCI_Lock", err)
}

//export armcigo_unlock
func armcigo_unlock(mutex, proc C.int) {
	defer guest.Guard(guest.Faults())
	rt, err := initialised("ARMCI_Unlock", func() string { return fmt.Sprintf("mutex %d of rank %d", mutex, proc) })
	if err == nil {
		err = rt.Unlock(rt.DefaultMutexes(), int(mutex), int(proc))
	}
	must("ARMCI_Unlock", err)
}

// Handles of armcix.h are opaque pointers: tokens for Go values.

//export armcigo_mutex_set
func armcigo_mutex_set(count, group C.int) unsafe.Pointer {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Create_mutexes_hdl"
	rt, g, err := groupFor(name, group, func() string { return fmt.Sprintf("%d", count) })
	var s *core.MutexSet
	if err == nil {
		s, err = rt.NewMutexes(g, int(count))
	}
	if code(name, err) != 0 {
		return nil
	}
	return pointer.Save(s)
}

func setOf(name string, hdl unsafe.Pointer, args ...argsOf) (*core.Runtime, *core.MutexSet, error) {
	rt, err := initialised(name, args...)
	if err != nil {
		return nil, nil, err
	}
	if s, ok := pointer.Restore(hdl).(*core.MutexSet); ok {
		return rt, s, nil
	}
	return nil, nil, &core.ArgError{Arg: "hdl", Text: "not a mutex handle", Code: core.CodeArgument}
}

//export armcigo_mutex_set_free
func armcigo_mutex_set_free(hdl unsafe.Pointer) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Destroy_mutexes_hdl"
	rt, s, err := setOf(name, hdl)
	if err == nil {
		pointer.Unref(hdl)
		err = rt.FreeMutexes(s)
	}
	return code(name, err)
}

//export armcigo_lock_hdl
func armcigo_lock_hdl(hdl unsafe.Pointer, mutex, proc C.int) {
	defer guest.Guard(guest.Faults())
	rt, s, err := setOf("ARMCIX_Lock_hdl", hdl, func() string { return fmt.Sprintf("mutex %d of rank %d", mutex, proc) })
	if err == nil {
		err = rt.Lock(s, int(mutex), int(proc))
	}
	must("ARMCIX_Lock_hdl", err)
}

// armcigo_trylock_hdl: 0: the caller holds the mutex now.
//
//export armcigo_trylock_hdl
func armcigo_trylock_hdl(hdl unsafe.Pointer, mutex, proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	rt, s, err := setOf("ARMCIX_Trylock_hdl", hdl, func() string { return fmt.Sprintf("mutex %d of rank %d", mutex, proc) })
	got := false
	if err == nil {
		got, err = rt.TryLock(s, int(mutex), int(proc))
	}
	must("ARMCIX_Trylock_hdl", err)
	if got {
		return 0
	}
	return 1
}

//export armcigo_unlock_hdl
func armcigo_unlock_hdl(hdl unsafe.Pointer, mutex, proc C.int) {
	defer guest.Guard(guest.Faults())
	rt, s, err := setOf("ARMCIX_Unlock_hdl", hdl, func() string { return fmt.Sprintf("mutex %d of rank %d", mutex, proc) })
	if err == nil {
		err = rt.Unlock(s, int(mutex), int(proc))
	}
	must("ARMCIX_Unlock_hdl", err)
}

// armcigo_refuse_copy ends the job after an ARMCI_Copy of a negative size or with a null pointer.
//
//export armcigo_refuse_copy
func armcigo_refuse_copy(n C.int) {
	defer guest.Guard(guest.Faults())
	if n < 0 {
		end("ARMCI_Copy", &core.ArgError{Arg: "n", Text: "negative", Code: core.CodeBytes})
	}
	end("ARMCI_Copy", &core.ArgError{Arg: "src or dst", Text: "null pointer", Code: core.CodeArgument})
}
