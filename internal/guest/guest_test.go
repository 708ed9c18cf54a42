// SPDX-License-Identifier: BSD-3-Clause

// What can be tested without a program in C: how frames are read. tests/c/signals.c,
// tests/c/own_signals.c and tests/fault/crash.sh test the rest over the library.
package guest

import (
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestGoCode(t *testing.T) {
	from, to := goCode()
	for _, f := range []any{TestGoCode, strings.Cut, runtime.GC, goCode} {
		if pc := reflect.ValueOf(f).Pointer(); pc < from || pc >= to {
			t.Errorf("%s at %#x is not in [%#x, %#x)", runtime.FuncForPC(pc).Name(), pc,
				from, to)
		}
	}
}

// TestFramesIn shows which frames are read from a stack of Go.
func TestFramesIn(t *testing.T) {
	stack := "runtime.cgocall(0x1, 0x2)\n\t/go/src/runtime/cgocall.go:167 +0x4b\n" +
		"libarmci/internal/kernel._Cfunc_k_copy(0x1, 0x2)\n\t_cgo_gotypes.go:80 +0x3f\n" +
		"libarmci/internal/shm.(*Transport).Put(...)\n\t/src/shm/transport.go:78 +0x2a\n"
	want := []frame{
		{language: "Go", function: "libarmci/internal/kernel._Cfunc_k_copy",
			place: "_cgo_gotypes.go:80"},
		{language: "Go", function: "libarmci/internal/shm.(*Transport).Put",
			place: "transport.go:78"},
	}
	if got := framesIn(stack); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := want[1].String(),
		"Go libarmci/internal/shm.(*Transport).Put (transport.go:78)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPublicName shows which function of the public interface a trace names.
func TestPublicName(t *testing.T) {
	inner, put := frame{language: "C ", function: "k_copy"},
		frame{language: "C ", function: "PARMCI_Put", public: "ARMCI_Put"}
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
	if got := withoutHalves([]frame{inner, inner, put, put, user}); !slices.Equal(got,
		[]frame{inner, inner, put, user}) {
		t.Errorf("got %v", got)
	}
}
