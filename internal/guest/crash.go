// SPDX-License-Identifier: BSD-3-Clause

// Reports of crashes inside the library: one message with rank and host, and C and Go frames in one
// list, innermost first. A fault in C reaches reportFault through the signal handler of crash.c; a
// panic in Go reaches Guard, which every exported function defers, or log.Guard, which goroutines
// defer. A crash in a network's library that this one has called is one of this library. Crashes in
// other code of the process are not reported.
package guest

// #include <stdlib.h>
// #include "crash.h"
import "C"

import (
	"fmt"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
	"libarmci/internal/log"
)

var crashes struct {
	once   sync.Once
	traces bool
	public func(symbol string) string
}

// NamedBy is called by an init function of the library: public gives the name under which the
// application calls a C function of the library, "" if it cannot.
func NamedBy(public func(symbol string) string) { crashes.public = public }

// Watch installs the handlers of faults, once per process. Without it only panics are reported, in
// one line.
func Watch() error {
	var err error
	crashes.once.Do(func() {
		var fd int
		if fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
			err = fmt.Errorf("eventfd: %w", err)
			return
		}
		crashes.traces = true
		log.OnPanic(reportPanic)
		go reportFault(os.NewFile(uintptr(fd), "crash"))
		from, to := goCode()
		C.crash_install(C.int(fd), C.uintptr_t(from), C.uintptr_t(to))
	})
	return err
}

// Identify sets the prefix of the lines that the signal handler prints by itself.
func Identify(rank int, host string) {
	b := append(fmt.Appendf(nil, "[%d@%.255s] ", rank, host), 0)
	C.crash_identify((*C.char)(unsafe.Pointer(&b[0])))
}

// Foreign describes memory of other processes to the signal handler: ranges of addresses, bytes
// each from base on. The report of a crash at an address of range i names owner whose[i]; "" is a
// range of this process. The data of a call never changes after it, because the handler may run at
// any time.
func Foreign(base, bytes uintptr, whose []string) {
	if len(whose) == 0 {
		return
	}
	all := (**C.char)(C.calloc(C.size_t(len(whose)), C.size_t(unsafe.Sizeof((*C.char)(nil)))))
	if all == nil {
		return // no memory: a report names no owner
	}
	texts := unsafe.Slice(all, len(whose))
	for i, text := range whose {
		if text != "" {
			texts[i] = C.CString(text)
		}
	}
	C.crash_ranges(C.uintptr_t(base), C.uintptr_t(bytes), C.int(len(whose)), &texts[0])
}

// goCode is the range of Go's code in this library: the contiguous range of functions known to Go
// around this one.
func goCode() (from, to uintptr) {
	here, _, _, _ := runtime.Caller(0)
	from, to = here, here
	for step := uintptr(1) << 30; step > 0; step >>= 1 {
		if from > step && runtime.FuncForPC(from-step) != nil {
			from -= step
		}
		if runtime.FuncForPC(to+step) != nil {
			to += step
		}
	}
	return from, to + 1
}

// reportFault sleeps until the signal handler has recorded a crash.
func reportFault(wake *os.File) {
	if _, err := wake.Read(make([]byte, 8)); err != nil {
		return
	}
	runtime.Stack(make([]byte, 64), true) // does not return if Go waits for the crashed thread
	C.crash_heard()
	c := &C.crash
	trace := framesOf(pcs(c.pc[:c.frames]))
	if inLibrary := C.crash_owner(c.pc[c.frames-1]); inLibrary == C.CRASH_C ||
		inLibrary == C.CRASH_GO {
		trace = append(append(trace, callsIntoC(trace)...), callersIn(c.stack[:c.words])...)
	}
	where := ""
	if c.address != 0 || syscall.Signal(c.signal) == syscall.SIGSEGV {
		where = fmt.Sprintf(" at address %#x", uint64(c.address))
	}
	printCrash(unix.SignalName(syscall.Signal(c.signal))+where, trace)
	C.crash_told()
}

// Guard is deferred by every exported function, as `defer guest.Guard(guest.Faults())`: a Go panic
// is a bug of the library, and ends the process like the signal by which a C function would have
// died.
func Guard(bool) {
	if v := recover(); v != nil {
		reportPanic(v)
	}
}

// reportPanic is called where the panic is recovered, and does not return.
func reportPanic(v any) {
	what, sig := fmt.Sprintf("a Go panic (%v)", v), unix.SIGABRT
	if e, ok := v.(runtime.Error); ok && strings.Contains(e.Error(), "memory address") {
		what, sig = fmt.Sprintf("SIGSEGV at address %#x", uint64(C.crash_fault())),
			unix.SIGSEGV
	}
	words := make([]C.uintptr_t, C.CRASH_WORDS)
	n := C.crash_callers(&words[0], C.CRASH_WORDS)
	printCrash(what, append(framesHere(), callersIn(words[:n])...))
	C.crash_end(C.int(sig))
}

// Faults is Guard's argument: it makes faults at any address panics.
func Faults() bool { return debug.SetPanicOnFault(true) }

// printCrash prints the message, and waits until the launcher can have read it.
func printCrash(what string, trace []frame) {
	var b strings.Builder
	fmt.Fprintf(&b, "crashed with %s in %s", what, publicName(trace))
	if crashes.traces {
		for _, f := range withoutHalves(trace) {
			fmt.Fprintf(&b, "\n  %s", f)
		}
	}
	log.Errorf("%s", b.String())
	log.AwaitReader(time.Second)
}

// withoutHalves drops the second of two consecutive frames of the same public function: the
// compiler divides such functions into a frequent part and the rest, which both have the function's
// name.
func withoutHalves(trace []frame) []frame {
	return slices.CompactFunc(trace, func(a, b frame) bool {
		return a.function == b.function &&
			a.public+b.public != ""
	})
}

// frame is one line of a trace.
type frame struct {
	language, function, place string
	public                    string // the exported function's name, if it is one
}

func (f frame) String() string {
	if f.place == "" {
		return f.language + " " + f.function
	}
	return f.language + " " + f.function + " (" + f.place + ")"
}

// publicName is the function that the application has called: the outermost exported one.
func publicName(trace []frame) string {
	for i := len(trace) - 1; i >= 0; i-- {
		if trace[i].public != "" {
			return trace[i].public
		}
	}
	return "a thread of the library"
}

func place(file string, line int) string {
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(file), line)
}
