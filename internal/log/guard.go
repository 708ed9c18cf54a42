// SPDX-License-Identifier: BSD-3-Clause

// Handling of a panic in a goroutine of the library. Package log only calls the
// function that package guest has set, which prints the report.

package log

import "sync/atomic"

var onPanic atomic.Pointer[func(v any)]

// OnPanic sets the function that Guard calls with a panic of a goroutine. tell does not return.
func OnPanic(tell func(v any)) { onPanic.Store(&tell) }

// Guard is deferred by every goroutine, so that its panic is reported with rank
// and host. Without OnPanic the panic goes on.
func Guard() {
	v := recover()
	if v == nil {
		return
	}
	if tell := onPanic.Load(); tell != nil {
		(*tell)(v)
	}
	panic(v)
}
