// SPDX-License-Identifier: BSD-3-Clause

// Package guest lets Go live inside a program that is not ours: the application's signals stay off
// Go's stacks, and a crash inside the library is reported with C and Go frames in one list. Every
// package main that becomes a C shared library imports it. The linker's options below reach the
// final link of that library, where they redirect the functions of signals.c and crash.c. This
// package must not know what the library does.
package guest

// #cgo CFLAGS: -std=gnu11 -fvisibility=hidden -Wall -Wextra -Wno-unused-parameter
// #cgo LDFLAGS: -Wl,--wrap=pthread_create -Wl,--wrap=_cgo_wait_runtime_init_done
// #cgo LDFLAGS: -Wl,--wrap=cgoSymbolizerInit
import "C"

import _ "github.com/ianlancetaylor/cgosymbolizer" // a crash shows C and Go frames together
