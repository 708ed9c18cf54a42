// SPDX-License-Identifier: BSD-3-Clause

// Decoding arguments of the C interface: operators are strings compared by prefix; types and scopes are numbers, in two
// numberings (classic, and ARMCI-MPI's).
package msg

import (
	"fmt"
	"strings"

	"libarmci/internal/core"
	"libarmci/internal/kernel"
)

// Scope is which ranks of a group take part.
type Scope int

// The scopes.
const (
	All     Scope = iota // every member
	Node                 // those on the caller's node
	Masters              // the lowest member of each node
)

func wrong(arg, format string, a ...any) error {
	return &core.ArgError{Arg: arg, Text: fmt.Sprintf(format, a...), Code: core.CodeOp}
}

// ScopeOf decodes SCOPE_*.
func ScopeOf(code int) (Scope, error) {
	switch code {
	case 333, 0:
		return All, nil
	case 337, 1:
		return Node, nil
	case 339, 2:
		return Masters, nil
	}
	return 0, wrong("scope", "%d is no scope", code)
}

// TypeOf decodes ARMCI_INT..ARMCI_DOUBLE.
func TypeOf(code int) (kernel.Type, error) {
	switch code {
	case -99, 0:
		return kernel.Int, nil
	case -101, 1:
		return kernel.Long, nil
	case -102, 2:
		return kernel.LongLong, nil
	case -306, 3:
		return kernel.Float, nil
	case -307, 4:
		return kernel.Double, nil
	}
	return 0, wrong("type", "%d is no element type", code)
}

// operators in the order of comparison: a longer word before its prefix.
var operators = []struct {
	word string
	op   kernel.Reduction
}{
	{"&&", kernel.LogicalAnd}, {"land", kernel.LogicalAnd}, {"||", kernel.LogicalOr}, {"lor", kernel.LogicalOr},
	{"&", kernel.BitAnd}, {"band", kernel.BitAnd}, {"|", kernel.BitOr}, {"bor", kernel.BitOr}, {"or", kernel.BitOr},
	{"absmax", kernel.AbsMax}, {"absmin", kernel.AbsMin}, {"max", kernel.Max}, {"min", kernel.Min},
	{"+", kernel.Sum}, {"*", kernel.Product},
}

// OpOf decodes an operator for a type.
func OpOf(word string, t kernel.Type) (kernel.Reduction, error) {
	for _, o := range operators {
		if strings.HasPrefix(word, o.word) {
			if !kernel.ReduceValid(o.op, t) {
				return 0, wrong("op", "%q is not defined for the type", word)
			}
			return o.op, nil
		}
	}
	return 0, wrong("op", "%q is no operator", word)
}
