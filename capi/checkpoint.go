// SPDX-License-Identifier: BSD-3-Clause

// Checkpoints of memory: conversion for core.
package main

// #include "front.h"
import "C"

import (
	"fmt"
	"math"
	"unsafe"

	"libarmci/internal/checkpoint"
	"libarmci/internal/core"
	"libarmci/internal/guest"
	"libarmci/internal/log"
)

//export armcigo_ckpt_init
func armcigo_ckpt_init(file *C.char, group, stack, heap C.int, ds *C.armci_ckpt_ds_t) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCI_Ckpt_init"
	rt, g, err := groupFor(name, group)
	if err != nil {
		return code(name, err)
	}
	q := core.CheckpointRequest{Allocations: ds == nil}
	if file != nil {
		q.File = C.GoString(file)
	}
	switch {
	case stack != 0:
		q.Mistake = notSaved("savestack", "the stack")
	case heap != 0:
		q.Mistake = notSaved("saveheap", "the heap")
	case ds != nil:
		q.Ranges, q.Mistake = rangesOf(ds)
	}
	id, err := rt.CheckpointInit(g, q)
	if err != nil {
		return code(name, err)
	}
	return C.int(id)
}

// notSaved refuses to save what is not memory of the library or named by the caller.
func notSaved(arg, what string) error {
	return &core.ArgError{Arg: arg, Code: core.CodeArgument, Text: what + " cannot be saved, " +
		"only memory that ckptds lists, or the allocations of the group"}
}

// rangesOf are the blocks that the caller lists.
func rangesOf(ds *C.armci_ckpt_ds_t) ([]core.CheckpointRange, error) {
	n := int(ds.count)
	if n < 0 || n > 0 && (ds.ptr_arr == nil || ds.sz == nil) {
		return nil, &core.ArgError{Arg: "ckptds", Code: core.CodeArgument,
			Text: "null array or negative count"}
	}
	all := make([]core.CheckpointRange, n)
	addrs, sizes := unsafe.Slice(ds.ptr_arr, n), unsafe.Slice(ds.sz, n)
	for i := range all {
		all[i] = core.CheckpointRange{Addr: uintptr(addrs[i]), Nbytes: int64(sizes[i])}
		if ds.saveonce != nil {
			all[i].Once = unsafe.Slice(ds.saveonce, n)[i] != 0
		}
	}
	return all, nil
}

// forRecord is initialised for a call with the number of a record.
func forRecord(name string, id C.int) (*core.Runtime, error) {
	return initialised(name, func() string { return fmt.Sprintf("record %d", id) })
}

//export armcigo_ckpt
func armcigo_ckpt(id C.int) C.int {
	defer guest.Guard(guest.Faults())
	rt, err := forRecord("ARMCI_Ckpt", id)
	if err == nil {
		err = rt.Checkpoint(int(id))
	}
	return code("ARMCI_Ckpt", err)
}

// armcigo_ckpt_recover ends the job after an error if the caller cannot return one.
//
//export armcigo_ckpt_recover
func armcigo_ckpt_recover(cname *C.char, id C.int, end C.bool) C.int {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	rt, err := forRecord(name, id)
	if err == nil {
		err = rt.CheckpointRecover(int(id))
	}
	if end {
		endJobOnError(name, err)
	}
	return code(name, err)
}

//export armcigo_ckpt_finalize
func armcigo_ckpt_finalize(id C.int) {
	defer guest.Guard(guest.Faults())
	rt, err := forRecord("ARMCI_Ckpt_finalize", id)
	if err == nil {
		err = rt.CheckpointFinalize(int(id))
	}
	code("ARMCI_Ckpt_finalize", err)
}

//export armcigo_ckpt_generation
func armcigo_ckpt_generation(id C.int) C.long {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Ckpt_generation"
	rt, err := forRecord(name, id)
	if err != nil {
		return C.long(code(name, err))
	}
	generation, err := rt.CheckpointGeneration(int(id))
	if err != nil {
		return C.long(code(name, err))
	}
	return C.long(generation)
}

//export armcigo_ckpt_distribute
func armcigo_ckpt_distribute(id, index, dims C.int, elem C.size_t, extent, lo, hi *C.long) C.int {
	defer guest.Guard(guest.Faults())
	const name = "ARMCIX_Ckpt_distribute"
	rt, err := forRecord(name, id)
	switch {
	case err != nil:
	case dims < 0 || dims > checkpoint.MaxDims:
		err = &core.ArgError{Arg: "ndim", Code: core.CodeLevels,
			Text: fmt.Sprintf("%d is outside 0..%d", dims, checkpoint.MaxDims)}
	case dims > 0 && (extent == nil || lo == nil || hi == nil):
		err = &core.ArgError{Arg: "dims, lo or hi", Code: core.CodeArgument,
			Text: "null pointer"}
	default:
		err = rt.CheckpointDistribute(int(id), int(index), &checkpoint.Box{
			ElemBytes: int64(min(elem, math.MaxInt64)), Dims: longs(extent, dims),
			Lo: longs(lo, dims), Hi: longs(hi, dims)})
	}
	return code(name, err)
}

// longs copies an array of C.
func longs(p *C.long, n C.int) []int64 {
	all := make([]int64, n)
	for i, v := range unsafe.Slice(p, n) {
		all[i] = int64(v)
	}
	return all
}

//export armcigo_no_spare_ranks
func armcigo_no_spare_ranks() {
	defer guest.Guard(guest.Faults())
	log.WarnOnce("spare ranks", "armci_set_spare_procs: no rank is set aside")
}
