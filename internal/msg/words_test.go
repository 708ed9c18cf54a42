// SPDX-License-Identifier: BSD-3-Clause

// The words of the C interface, in both sets of numbers, and which operator is defined for which
// type.
package msg

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"libarmci/internal/core"
	"libarmci/internal/kernel"
)

func wantArg(t testing.TB, what string, err error, arg string, code int, text string) {
	t.Helper()
	var e *core.ArgError
	if !errors.As(err, &e) || e.Arg != arg || e.Code != code ||
		!strings.Contains(e.Text, text) {
		t.Errorf("%s: %v (%+v); expected %q, %d, %q", what, err, e, arg, code, text)
	}
}

// TestScopeOf shows which codes name a scope.
func TestScopeOf(t *testing.T) {
	known := map[int]Scope{333: All, 0: All, 337: Node, 1: Node, 339: Masters, 2: Masters}
	for code := -5; code < 400; code++ {
		s, err := ScopeOf(code)
		if want, ok := known[code]; !ok {
			wantArg(t, "scope", err, "scope", core.CodeOp,
				fmt.Sprintf("%d is no scope", code))
		} else if err != nil || s != want {
			t.Errorf("scope %d: %d, %v", code, s, err)
		}
	}
}

// TestTypeOf shows which codes name an element type.
func TestTypeOf(t *testing.T) {
	known := map[int]kernel.Type{-99: kernel.Int, 0: kernel.Int, -101: kernel.Long,
		1: kernel.Long, -102: kernel.LongLong,
		2: kernel.LongLong, -306: kernel.Float, 3: kernel.Float, -307: kernel.Double,
		4: kernel.Double}
	for code := -400; code < 10; code++ {
		typ, err := TypeOf(code)
		if want, ok := known[code]; !ok {
			wantArg(t, "type", err, "type", core.CodeOp,
				fmt.Sprintf("%d is no element type", code))
		} else if err != nil || typ != want {
			t.Errorf("type %d: %d, %v", code, typ, err)
		}
	}
}

// TestOpOf shows which words name an operator.
func TestOpOf(t *testing.T) {
	for word, want := range map[string]kernel.Reduction{
		"+": kernel.Sum, "*": kernel.Product, "max": kernel.Max, "min": kernel.Min,
		"absmax": kernel.AbsMax, "absmin": kernel.AbsMin,
		"or": kernel.BitOr, "bor": kernel.BitOr, "|": kernel.BitOr, "band": kernel.BitAnd,
		"&":   kernel.BitAnd,
		"lor": kernel.LogicalOr, "||": kernel.LogicalOr, "land": kernel.LogicalAnd,
		"&&": kernel.LogicalAnd,
		// by prefix
		"+  ": kernel.Sum, "maximum": kernel.Max, "absmax loc": kernel.AbsMax,
		"minloc": kernel.Min,
	} {
		if op, err := OpOf(word, kernel.Int); err != nil || op != want {
			t.Errorf("%q: %d, %v; expected %d", word, op, err, want)
		}
	}
	for _, word := range []string{"", "-", "ma", "abs", "xor", " +", "MAX"} {
		_, err := OpOf(word, kernel.Int)
		wantArg(t, word, err, "op", core.CodeOp, "is no operator")
	}
	for _, word := range []string{"or", "&", "land", "||"} {
		_, err := OpOf(word, kernel.Double)
		if valid := kernel.ReduceValid(mustOp(word), kernel.Double); valid != (err == nil) {
			t.Errorf("%q of doubles: %v, and the kernel says %v", word, err, valid)
		}
	}
	_, err := OpOf("bor", kernel.Float)
	wantArg(t, "bits of floats", err, "op", core.CodeOp, "is not defined for the type")
}

func mustOp(word string) kernel.Reduction {
	op, err := OpOf(word, kernel.Int)
	if err != nil {
		panic(err)
	}
	return op
}
