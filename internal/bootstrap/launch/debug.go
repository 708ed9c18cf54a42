// SPDX-License-Identifier: BSD-3-Clause

// A rank under the debugger gdb: it has armcirun's standard input, which may be a terminal.

package launch

import "slices"

// debugger is what runs a program with arguments. The signals are the Go runtime's.
var debugger = []string{"gdb", "-q", "-ex", "handle SIGURG SIGPIPE nostop noprint pass", "--args"}

// reader is the rank that reads the standard input.
func (o *Options) reader() int {
	if o.Debug != nil {
		return *o.Debug
	}
	return 0
}

// underDebugger is a rank's command line if it is debugged.
func underDebugger(argv []string) []string { return slices.Concat(debugger, argv) }
