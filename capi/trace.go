// SPDX-License-Identifier: BSD-3-Clause

// ARMCI_TRACE: one line per call, with the function's name and arguments. Calls that are not traced
// pay for the question whether they are.
package main

// #include "front.h"
import "C"

import (
	"fmt"
	"strings"

	"libarmci/internal/core"
	"libarmci/internal/log"
)

// argsOf says what a function was called with. It is asked only if calls are traced.
type argsOf func() string

// trace prints the line of a call. There is at most one argsOf.
func trace(name string, args []argsOf) {
	if !lib.trace {
		return
	}
	for _, a := range args {
		name += ": " + a()
	}
	log.Tracef("%s", name)
}

// traceOp prints the line of a put, get or accumulate: what, how much, between which addresses, and
// how it completes.
func traceOp(c *C.struct_front_call, o *core.Op) {
	if lib.trace {
		log.Tracef("%s: %s", literal(c.name), describe(c, o))
	}
}

// describe is the line of a trace for one operation: bytes, rank, addresses and shape.
func describe(c *C.struct_front_call, o *core.Op) string {
	if o.Missing != "" || o.Refuse != nil { // the error says more
		return fmt.Sprintf("rank %d, arguments that will be refused", o.Proc)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d bytes, ", o.Xfer.Bytes())
	arrow := "->"
	if o.Kind == core.Get {
		arrow = "<-"
	}
	if c.shape == C.FRONT_VECTOR {
		describeVector(&b, o, arrow)
	} else {
		fmt.Fprintf(&b, "local %#x %s rank %d at %#x", o.Xfer.Local.Base, arrow, o.Proc,
			o.Xfer.Remote.Base)
		if o.Xfer.Levels() > 0 {
			fmt.Fprintf(&b, ", count %v, strides %v %s %v", o.Xfer.Count,
				o.Xfer.Local.Stride, arrow, o.Xfer.Remote.Stride)
		}
	}
	if o.Kind == core.Acc {
		fmt.Fprintf(&b, ", accumulate %d, scale at %#x", o.AccCode, uintptr(c.scale))
	}
	switch {
	case c.nonblocking == C.FRONT_BLOCKING, c.nonblocking == C.FRONT_FOLLOWED:
	case c.hdl == nil:
		b.WriteString(", implicit handle")
	default:
		fmt.Fprintf(&b, ", handle at %#x", uintptr(c.hdl))
	}
	return b.String()
}

// describeVector appends the ranks, numbers and first addresses of a vector operation.
func describeVector(b *strings.Builder, o *core.Op, arrow string) {
	segments := 0
	for _, s := range o.Xfer.Vector {
		segments += len(s.Local)
	}
	fmt.Fprintf(b, "rank %d, %d segments in %d descriptors", o.Proc, segments,
		len(o.Xfer.Vector))
	for _, s := range o.Xfer.Vector {
		if len(s.Local) > 0 {
			fmt.Fprintf(b, ", first local %#x %s %#x of %d bytes", s.Local[0], arrow,
				s.Remote[0], s.Bytes)
			return
		}
	}
}
