// SPDX-License-Identifier: BSD-3-Clause

// Allocation of memory of all kinds: conversion for core.
package main

// #include "front.h"
import "C"

import (
	"fmt"
	"unsafe"

	"libarmci/internal/core"
	"libarmci/internal/guest"
	"libarmci/internal/kernel"
)

// groupFor is initialised for a call with a group. It fails if there is no group of this id.
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

//export armcigo_malloc
func armcigo_malloc(cname *C.char, ptrs *unsafe.Pointer, bytes C.long, group C.int,
	device *C.char) C.int {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	rt, g, err := groupFor(name, group, func() string { return fmt.Sprintf("%d bytes", bytes) })
	if err == nil && ptrs == nil {
		err = &core.ArgError{Arg: "ptr_arr", Text: "null pointer", Code: core.CodeArgument}
	}
	if err != nil {
		return code(name, err)
	}
	kind := ""
	if device != nil {
		kind = C.GoString(device)
	}
	addrs, err := rt.MallocKind(g, int64(bytes), kind)
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
	endJobOnError(name, err)
	addr, err := rt.MallocLocal(int64(bytes))
	endJobOnError(name, err)
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
	endJobOnError("ARMCI_Uses_shm", err)
	if g.Size() > rt.NodesOf(g) { // some members share a node
		return 1
	}
	return 0
}

// armcigo_access checks the pointer of ARMCI_Access_begin and _end; the memory itself is always
// coherent.
//
//export armcigo_access
func armcigo_access(cname *C.char, p unsafe.Pointer) {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	rt, err := initialised(name, func() string { return fmt.Sprintf("%#x", uintptr(p)) })
	endJobOnError(name, err)
	if !rt.Memory.InRegionOf(rt.Topo.Local(rt.Me), uintptr(p), 1) {
		endJob(name, &core.ArgError{Arg: "ptr", Text: "not in an allocation of this rank",
			Code: core.CodeArgument})
	}
	rt.Fence(int(rt.Me))
}

// armcigo_refuse_copy ends the job after an ARMCI_Copy of a negative size or with a null pointer.
//
//export armcigo_refuse_copy
func armcigo_refuse_copy(n C.int) {
	defer guest.Guard(guest.Faults())
	if n < 0 {
		endJob("ARMCI_Copy", &core.ArgError{Arg: "n",
			Text: "negative", Code: core.CodeBytes})
	}
	endJob("ARMCI_Copy", &core.ArgError{Arg: "src or dst", Text: "null pointer",
		Code: core.CodeArgument})
}
