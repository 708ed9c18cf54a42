// SPDX-License-Identifier: BSD-3-Clause

// armci_msg_*: conversion for msg. None of these functions can return an error: a mistake ends the
// job.
package main

// #include "front.h"
import "C"

import (
	"fmt"
	"unsafe"

	"libarmci/internal/core"
	"libarmci/internal/guest"
	"libarmci/internal/msg"
)

func bytesAt(p unsafe.Pointer, n C.int) []byte { return unsafe.Slice((*byte)(p), n) }

// buffer checks a message buffer.
func buffer(name, arg string, p unsafe.Pointer, n C.int) []byte {
	switch {
	case n < 0:
		endJob(name, &core.ArgError{Arg: "len", Text: "negative", Code: core.CodeBytes})
	case n > 0 && p == nil:
		endJob(name, &core.ArgError{Arg: arg, Text: "null pointer",
			Code: core.CodeArgument})
	}
	return bytesAt(p, n)
}

// among finds the group and scope of a collective.
func among(name string, scope, id C.int, args ...argsOf) (*core.Runtime, *core.Group, msg.Scope) {
	rt, err := running(name, func() string {
		line := fmt.Sprintf("scope %d, group %d", scope, id)
		for _, a := range args {
			line += ", " + a()
		}
		return line
	})
	endJobOnError(name, err)
	g, err := rt.Group(int(id))
	endJobOnError(name, err)
	s, err := msg.ScopeOf(int(scope))
	endJobOnError(name, err)
	return rt, g, s
}

//export armcigo_group_barrier
func armcigo_group_barrier(id C.int) {
	defer guest.Guard(guest.Faults())
	_, g, _ := among("armci_msg_group_barrier", 333, id)
	endJobOnError("armci_msg_group_barrier", msg.Barrier(g))
}

//export armcigo_snd
func armcigo_snd(tag C.int, p unsafe.Pointer, n, to C.int) {
	defer guest.Guard(guest.Faults())
	const name = "armci_msg_snd"
	rt, err := running(name,
		func() string {
			return fmt.Sprintf("tag %d, %d bytes at %#x to rank %d", tag, n,
				uintptr(p), to)
		})
	endJobOnError(name, err)
	endJobOnError(name, msg.Send(rt, int(tag), buffer(name, "buffer", p, n), int(to)))
}

//export armcigo_rcv
func armcigo_rcv(cname *C.char, tag C.int, p unsafe.Pointer, n C.int, got *C.int,
	from C.int) C.int {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	rt, err := running(name, func() string {
		return fmt.Sprintf("tag %d, up to %d bytes at %#x from rank %d", tag, n, uintptr(p),
			from)
	})
	endJobOnError(name, err)
	if name == "armci_msg_rcv" {
		endJobOnError(name, checkRank(rt, "from", from))
	}
	source, length, err := msg.Recv(rt, int(tag), buffer(name, "buffer", p, n), int(from))
	endJobOnError(name, err)
	if got != nil {
		*got = C.int(length)
	}
	return C.int(source)
}

//export armcigo_bcast
func armcigo_bcast(cname *C.char, scope C.int, p unsafe.Pointer, n, root, id C.int) {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	rt, g, s := among(name, scope, id,
		func() string {
			return fmt.Sprintf("%d bytes at %#x from rank %d", n, uintptr(p),
				root)
		})
	if s == msg.Node && name == "armci_msg_bcast_scope" {
		// there, and only there, a place on the node
		ranks := rt.Topo.Mine()
		if root < 0 || int(root) >= len(ranks) {
			endJob(name, &core.ArgError{Arg: "root", Text: "no such rank on the node",
				Code: core.CodeProc})
		}
		root = C.int(ranks[root])
	}
	endJobOnError(name, msg.Bcast(g, s, p, int(n), int(root)))
}

//export armcigo_clus_bcast
func armcigo_clus_bcast(p unsafe.Pointer, n C.int) {
	defer guest.Guard(guest.Faults())
	rt, g, _ := among("armci_msg_clus_brdcst", 337, core.World,
		func() string { return fmt.Sprintf("%d bytes at %#x", n, uintptr(p)) })
	root := rt.Topo.Mine()[0]
	endJobOnError("armci_msg_clus_brdcst", msg.Bcast(g, msg.Node, p, int(n), int(root)))
}

//export armcigo_range_bcast
func armcigo_range_bcast(p unsafe.Pointer, n, master, members, id C.int) {
	defer guest.Guard(guest.Faults())
	const name = "armci_grp_clus_brdcst"
	rt, g, _ := among(name, 333, id,
		func() string {
			return fmt.Sprintf("%d bytes at %#x from rank %d", n, uintptr(p),
				master)
		})
	err := msg.RangeBcast(rt, g, buffer(name, "buf", p, n), int(master), int(members))
	endJobOnError(name, err)
}

//export armcigo_gop
func armcigo_gop(cname *C.char, scope C.int, x unsafe.Pointer, n C.int, op *C.char, typ, id C.int) {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	_, g, s := among(name, scope, id, func() string {
		return fmt.Sprintf("%d elements of type %d at %#x, op %s", n, typ, uintptr(x),
			C.GoString(op))
	})
	endJobOnError(name, msg.Gop(g, s, x, int(n), word(name, op), int(typ)))
}

func word(name string, op *C.char) string {
	if op == nil {
		endJob(name, &core.ArgError{Arg: "op", Text: "null pointer",
			Code: core.CodeArgument})
	}
	return C.GoString(op)
}

//export armcigo_sel
func armcigo_sel(cname *C.char, scope C.int, x unsafe.Pointer, n C.int, op *C.char, typ,
	contribute C.int) {
	defer guest.Guard(guest.Faults())
	name := literal(cname)
	_, g, s := among(name, scope, core.World, func() string {
		return fmt.Sprintf("%d bytes at %#x, type %d, op %s", n, uintptr(x), typ,
			C.GoString(op))
	})
	endJobOnError(name, msg.Sel(g, s, x, int(n), word(name, op), int(typ), contribute != 0))
}

//export armcigo_bintree
func armcigo_bintree(scope C.int, root, up, left, right *C.int) {
	defer guest.Guard(guest.Faults())
	rt, _, s := among("armci_msg_bintree", scope, core.World)
	r, u, l, ri := msg.Bintree(rt, s)
	for _, out := range []struct {
		to *C.int
		v  int
	}{{root, r}, {up, u}, {left, l}, {right, ri}} {
		if out.to != nil {
			*out.to = C.int(out.v)
		}
	}
}
