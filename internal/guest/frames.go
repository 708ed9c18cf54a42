// SPDX-License-Identifier: BSD-3-Clause

// The frames of a crash report: addresses in C (named by cgosymbolizer), the stack of the panicking
// goroutine, and that of a goroutine that has called C. Nothing is printed here.
package guest

// #include "crash.h"
import "C"

import (
	"path"
	"runtime"
	"strconv"
	"strings"
)

// pcs makes return addresses point into their call instructions.
func pcs(raw []C.uintptr_t) []uintptr {
	all := make([]uintptr, len(raw))
	for i, pc := range raw {
		if all[i] = uintptr(pc); i > 0 {
			all[i]--
		}
	}
	return all
}

// framesOf names C code. Unwinding ends at Go code, and so do the frames.
func framesOf(addresses []uintptr) []frame {
	var all []frame
	for _, pc := range addresses {
		if C.crash_owner(C.uintptr_t(pc)) == C.CRASH_GO {
			break
		}
		all = append(all, framesAt(pc)...)
		if all[len(all)-1].function == "main" {
			break // frames of the thread's start are of no interest
		}
	}
	return all
}

// framesAt is the function at an address, preceded by functions that were inlined there.
func framesAt(pc uintptr) []frame {
	var all []frame
	frames := runtime.CallersFrames([]uintptr{pc})
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		all = append(all, frame{language: "C ", function: f.Function,
			place: place(f.File, f.Line)})
	}
	last := &all[len(all)-1]
	symbol := symbolAt(pc)
	if last.function == "" {
		last.function = symbol
	}
	if symbol == "" {
		symbol = last.function
	}
	if last.function == "" {
		last.function = "0x" + strconv.FormatUint(uint64(pc), 16)
	}
	if crashes.public != nil && C.crash_owner(C.uintptr_t(pc)) == C.CRASH_C {
		last.public = crashes.public(symbol)
	}
	return all
}

func symbolAt(pc uintptr) string {
	var name [128]C.char
	if C.crash_symbol(C.uintptr_t(pc), &name[0], C.size_t(len(name))) == 0 {
		return ""
	}
	return C.GoString(&name[0])
}

// callersIn finds, in a copy of a thread's stack, the C functions through which the application has
// entered Go: the return addresses behind the last ones of Go code. The application calls a public
// function: what is of this library behind one, or not of this library before one, is left from
// earlier calls, in words that a frame does not use. The first caller behind it ends the list.
func callersIn(stack []C.uintptr_t) []frame {
	var all []frame
	seenGo, seenPublic := false, false
	for _, w := range stack {
		owner := C.crash_owner(w)
		switch {
		case owner == C.CRASH_GO:
			seenGo, seenPublic, all = true, false, nil
		case !seenGo || owner == C.CRASH_NOWHERE || C.crash_after_call(w) == 0:
		case owner == C.CRASH_C && seenPublic:
		case owner == C.CRASH_C:
			all = append(all, framesAt(uintptr(w)-1)...)
			seenPublic = all[len(all)-1].public != ""
		case seenPublic:
			return append(all, framesAt(uintptr(w)-1)...)
		}
	}
	return all
}

// framesHere is the stack of the calling goroutine from where it panicked up to the exported
// function.
func framesHere() []frame {
	addresses := make([]uintptr, 64)
	n := runtime.Callers(2, addresses)
	frames := runtime.CallersFrames(addresses[:n])
	var all []frame
	for more := n > 0; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			all = nil
		case isReported(f.Function):
			all = append(all, frame{language: "Go", function: f.Function,
				place: place(f.File, f.Line)})
		}
	}
	return all
}

// isReported is false for functions of Go's runtime.
func isReported(function string) bool {
	return !strings.HasPrefix(function, "runtime.") && !strings.HasPrefix(function, "_cgoexp_")
}

// callsIntoC is the stack of the goroutine that has called the C function in which the trace ends;
// of all that have called the same one, if there are several.
func callsIntoC(trace []frame) []frame {
	wrapper := "_Cfunc_"
	for _, f := range trace {
		if _, name, ok := strings.Cut(f.function, "_Cfunc_"); ok {
			wrapper += name + "("
		}
	}
	text := make([]byte, 256<<10)
	text = text[:runtime.Stack(text, true)]
	var all []frame
	for _, stack := range strings.Split(string(text), "\n\n") {
		head, body, _ := strings.Cut(stack, "\n")
		if strings.Contains(head, "[syscall") && strings.Contains(body, wrapper) {
			all = append(all, framesIn(body)...)
		}
	}
	return all
}

// framesIn reads a stack as Go prints it: a line with the function and its arguments, then one with
// file and line.
func framesIn(stack string) []frame {
	var all []frame
	lines := strings.Split(stack, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		function, where := lines[i], strings.TrimSpace(lines[i+1])
		if at := strings.LastIndexByte(function, '('); at > 0 {
			function = function[:at]
		}
		if isReported(function) {
			where, _, _ = strings.Cut(where, " ")
			all = append(all, frame{language: "Go", function: function,
				place: path.Base(where)})
		}
	}
	return all
}
