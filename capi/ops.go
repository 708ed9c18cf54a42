// SPDX-License-Identifier: BSD-3-Clause

// Put, get and accumulate, contiguous, strided and vector: conversion for core.
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

// ints is a C array as a slice, nil for NULL.
func ints(p *C.int, n int) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(p)), n)
}

func addresses(p *unsafe.Pointer, n int) []uintptr {
	return unsafe.Slice((*uintptr)(unsafe.Pointer(p)), n)
}

// convert fills an operation in. If arguments cannot be converted, it notes which, and core refuses
// them.
func convert(c *C.struct_front_call, o *core.Op) {
	o.Kind, o.Proc, o.Levels, o.AccCode = core.Kind(c.kind), int(c.proc), int(c.levels),
		int(c.optype)
	o.Scale.Value = c.scale
	switch c.shape {
	case C.FRONT_VECTOR:
		o.Suffix = "_ptr_array"
		o.Xfer.Vector = segmentsOf(o, c)
		return
	case C.FRONT_STRIDED:
		o.Suffix = "_ptr"
	}
	n := min(max(o.Levels, 0), 8)
	o.Xfer.Local.Base, o.Xfer.Remote.Base = uintptr(c.local), uintptr(c.remote)
	if c.count == nil {
		o.Missing = "count"
		return
	}
	o.Xfer.Count = ints(c.count, n+1)
	if n > 0 && (c.local_stride == nil || c.remote_stride == nil) {
		o.Missing = "dst_stride_arr"
		if (c.local_stride == nil) == (o.Kind != core.Get) {
			o.Missing = "src_stride_arr"
		}
		return
	}
	if n > 0 {
		o.Xfer.Local.Stride, o.Xfer.Remote.Stride = ints(c.local_stride, n),
			ints(c.remote_stride, n)
	}
}

// segmentsOf sets the segments of o from C's descriptors. It sets o.Refuse or o.Missing if those
// are wrong.
func segmentsOf(o *core.Op, c *C.struct_front_call) []transport.Segments {
	all := o.Segments()
	if c.vectors < 0 {
		o.Refuse = &core.ArgError{Arg: "len", Text: "negative number of descriptors",
			Code: core.CodeLevels}
		return all
	}
	if c.vectors > 0 && c.vector == nil {
		o.Missing = "darr"
		return all
	}
	for _, d := range unsafe.Slice(c.vector, c.vectors) {
		n := int(d.ptr_array_len)
		switch {
		case n < 0:
			o.Refuse = &core.ArgError{Arg: "darr", Text: "negative ptr_array_len",
				Code: core.CodeLevels}
			return all
		case n > 0 && d.src_ptr_array == nil:
			o.Missing = "darr: src_ptr_array"
			return all
		case n > 0 && d.dst_ptr_array == nil:
			o.Missing = "darr: dst_ptr_array"
			return all
		}
		s := transport.Segments{Local: addresses(d.src_ptr_array, n),
			Remote: addresses(d.dst_ptr_array, n), Bytes: int(d.bytes)}
		if o.Kind == core.Get {
			s.Local, s.Remote = s.Remote, s.Local
		}
		all = append(all, s)
	}
	return all
}

//export armcigo_op
func armcigo_op(c *C.struct_front_call) C.int {
	defer guest.Guard(guest.Faults())
	if err := carryOut(c); err != nil {
		return code(literal(c.name), err)
	}
	return 0
}

// armcigo_other_layout ends the job: the program was compiled with another armci.h.
//
//export armcigo_other_layout
func armcigo_other_layout(name *C.char) {
	defer guest.Guard(guest.Faults())
	endJob(literal(name), &core.ArgError{Arg: "darr",
		Text: otherLayout, Code: core.CodeInternal})
}

// carryOut executes an operation. It must not allocate, since remote operations are many and small.
func carryOut(c *C.struct_front_call) error {
	rt := lib.rt.Load() // as initialised, but for the line of a trace
	if rt == nil || !inInit() {
		return errNotRunning
	}
	o := core.NewOp()
	convert(c, o)
	traceOp(c, o)
	err := post(rt, o, c)
	if err == nil { // else the transport may still use it
		o.Release()
	}
	return err
}

// post starts an operation as C has asked for it: blocking, without a handle, under a handle, or
// collected with others under an aggregate handle.
func post(rt *core.Runtime, o *core.Op, c *C.struct_front_call) error {
	if c.nonblocking != C.FRONT_NONBLOCKING {
		o.TemporaryLocal = c.nonblocking == C.FRONT_TEMPORARY ||
			c.nonblocking == C.FRONT_FOLLOWED
		return rt.Do(o)
	}
	if c.hdl == nil {
		_, err := rt.Start(o, true)
		return err
	}
	if taken, err := rt.Collect(uintptr(c.hdl), o); taken || err != nil {
		return err
	}
	hdl := (*int32)(c.hdl)
	content, err := rt.StartUnder(*hdl, o)
	if err == nil {
		*hdl = content
	}
	return err
}

//export armcigo_check_flag
func armcigo_check_flag(cname, arg *C.char, flag *C.int, proc C.int) C.int {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	rt, err := initialised(name, func() string {
		return fmt.Sprintf("flag at %#x of rank %d",
			uintptr(unsafe.Pointer(flag)), proc)
	})
	if err == nil {
		err = rt.CheckFlag(C.GoString(arg), int(proc), uintptr(unsafe.Pointer(flag)))
	}
	return code(name, err)
}

// armcigo_wait_request completes a request of the fast path, which has left it to Go.
//
//export armcigo_wait_request
func armcigo_wait_request(name *C.char, request C.int) C.int {
	defer guest.Guard(guest.Faults())
	rt, err := initialised(literal(name),
		func() string { return "a transfer that has been posted" })
	if err == nil {
		err = rt.Wait(int32(request))
	}
	return code(literal(name), err)
}
