// SPDX-License-Identifier: BSD-3-Clause

// The errors that a caller of ARMCI can get, with their return codes. Nothing is printed here; capi
// does that.
package core

import (
	"errors"
	"fmt"
)

// Return codes of the C interface (armci.h: FAIL..FAIL8).
const (
	// null pointer, library not initialised, and mistakes without a code of their own
	CodeArgument = -1
	CodeArrays   = -2 // null array of strides, counts or addresses
	CodeBytes    = -3 // negative size, or not a whole number of elements
	// stride levels outside 0..8, negative block, segment or descriptor counts
	CodeLevels   = -4
	CodeProc     = -5 // no such rank
	CodeInternal = -6 // out of memory, failure of a transport
	CodeOp       = -7 // unknown operation or type, misaligned read-modify-write
	CodeAddress  = -8 // not within one live allocation of the rank
)

// ArgError is a mistake of the caller: the argument, and what is wrong with it.
type ArgError struct {
	Arg  string
	Text string
	Code int
	// Quiet: another rank reports this mistake, of a collective call.
	Quiet bool
}

func (e *ArgError) Error() string {
	if e.Arg == "" {
		return e.Text
	}
	return e.Arg + ": " + e.Text
}

// argErr is a mistake in an argument, with its return code and a formatted text.
func argErr(code int, arg, format string, a ...any) error {
	return &ArgError{Arg: arg, Text: fmt.Sprintf(format, a...), Code: code}
}

// IsQuiet tells whether an error is for another rank to print.
func IsQuiet(err error) bool {
	var e *ArgError
	return errors.As(err, &e) && e.Quiet
}

// KindOf is the same for errors of the same code about the same argument.
func KindOf(err error) string {
	var e *ArgError
	if errors.As(err, &e) {
		return fmt.Sprint(e.Code, " ", e.Arg)
	}
	return ""
}

// CodeOf is the return code for an error.
func CodeOf(err error) int {
	var e *ArgError
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}
