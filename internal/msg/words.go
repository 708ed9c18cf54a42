// SPDX-License-Identifier: BSD-3-Clause

// Decoding arguments of the C interface: operators are strings compared by prefix; types and scopes
// are numbers, in two numberings (classic, and ARMCI-MPI's). The kernel knows operators and types,
// since the C fast path needs them, too.
package msg

import (
	"fmt"

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

func argError(arg, format string, a ...any) error {
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
	return 0, argError("scope", "%d is no scope", code)
}

// TypeOf decodes ARMCI_INT..ARMCI_DOUBLE.
func TypeOf(code int) (kernel.Type, error) {
	if t, known := kernel.TypeOfMessage(code); known {
		return t, nil
	}
	return 0, argError("type", "%d is no element type", code)
}

// OpOf decodes an operator for a type.
func OpOf(word string, t kernel.Type) (kernel.Reduction, error) {
	op, known := kernel.ReductionOf(word)
	switch {
	case !known:
		return 0, argError("op", "%q is no operator", word)
	case !kernel.ReduceValid(op, t):
		return 0, argError("op", "%q is not defined for the type", word)
	}
	return op, nil
}
