// SPDX-License-Identifier: BSD-3-Clause

// What can be tested without a program in C: that the linker's options take effect, and how frames are read. tests/c/signals.c
// and tests/fault/crash.sh test the rest over the library.
package guest

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// beginning is the mask of a thread that begins, or creates another one: Go blocks all signals for a moment.
const beginning = ^uint64(1<<(syscall.SIGKILL-1) | 1<<(syscall.SIGSTOP-1))

// blocked reads the signal masks of all threads but the first, which Go has not made, and those that are beginning.
func blocked(t *testing.T) (masks []uint64) {
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || filepath.Base(filepath.Dir(file)) == strconv.Itoa(os.Getpid()) {
			continue // it has ended, or is the first
		}
		_, mask, _ := strings.Cut(string(text), "SigBlk:\t")
		mask, _, _ = strings.Cut(mask, "\n")
		m, err := strconv.ParseUint(mask, 16, 64)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if m != beginning {
			masks = append(masks, m)
		}
	}
	return masks
}

// A package that imports this one is linked with --wrap: Go's threads block signals from their beginning.
func TestThreadsBlockSignals(t *testing.T) {
	running, done := make(chan struct{}), make(chan struct{})
	for range 3 { // with threads of their own
		go func() {
			runtime.LockOSThread()
			running <- struct{}{}
			<-done
		}()
	}
	for range 3 {
		<-running
	}
	defer close(done)
	masks := blocked(t)
	if len(masks) < 2 { // one of the three may run on the first thread
		t.Fatalf("%d threads", len(masks))
	}
	for _, m := range masks {
		for _, sig := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGCHLD, syscall.SIGPROF, syscall.SIGALRM} {
			if m>>(sig-1)&1 == 0 {
				t.Errorf("mask %#x: %v is not blocked", m, sig)
			}
		}
		for _, sig := range []syscall.Signal{syscall.SIGURG, syscall.SIGSEGV, syscall.SIGABRT} {
			if m>>(sig-1)&1 != 0 {
				t.Errorf("mask %#x: %v is blocked", m, sig)
			}
		}
	}
}

func TestGoCode(t *testing.T) {
	from, to := goCode()
	for _, f := range []any{TestGoCode, strings.Cut, runtime.GC, goCode} {
		if pc := reflect.ValueOf(f).Pointer(); pc < from || pc >= to {
			t.Errorf("%s at %#x is not in [%#x, %#x)", runtime.FuncForPC(pc).Name(), pc, from, to)
		}
	}
}

func TestFramesIn(t *testing.T) {
	stack := "runtime.cgocall(0x1, 0x2)\n\t/go/src/runtime/cgocall.go:167 +0x4b\n" +
		"libarmci/internal/kernel._Cfunc_k_copy(0x1, 0x2)\n\t_cgo_gotypes.go:80 +0x3f\n" +
		"libarmci/internal/shm.(*Transport).Put(...)\n\t/src/shm/transport.go:78 +0x2a\n"
	want := []frame{
		{language: "Go", function: "libarmci/internal/kernel._Cfunc_k_copy", place: "_cgo_gotypes.go:80"},
		{language: "Go", function: "libarmci/internal/shm.(*Transport).Put", place: "transport.go:78"},
	}
	if got := framesIn(stack); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := want[1].String(), "Go libarmci/internal/shm.(*Transport).Put (transport.go:78)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPublicName(t *testing.T) {
	inner, put := frame{language: "C ", function: "k_copy"}, frame{language: "C ", function: "PARMCI_Put", public: "ARMCI_Put"}
	user := frame{language: "C ", function: "main"}
	for want, trace := range map[string][]frame{
		"ARMCI_Put":               {inner, put, put, user},
		"a thread of the library": {inner, user},
	} {
		if got := publicName(trace); got != want {
			t.Errorf("%v: got %q, want %q", trace, got, want)
		}
	}
	// The two halves of a public function are one line, two calls of another function are two.
	if got := withoutHalves([]frame{inner, inner, put, put, user}); !slices.Equal(got, []frame{inner, inner, put, user}) {
		t.Errorf("got %v", got)
	}
}
