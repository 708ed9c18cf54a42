// SPDX-License-Identifier: BSD-3-Clause

// Package main is the front door of libarmci.so: the C ABI. The .c files decide node-local calls on the spot; the .go
// files convert C's arguments, call core and msg, print what went wrong and return the documented code. No ARMCI rule
// is decided here. The same sources are built once per ABI: ARMCI_ABI_MPI selects ARMCI-MPI's layouts.
package main

// #cgo CFLAGS: -O3 -std=gnu11 -fvisibility=hidden -Wall -Wextra -Wno-unused-parameter -Werror
import "C"

import _ "github.com/ianlancetaylor/cgosymbolizer" // a crash shows C and Go frames together

func main() {}
