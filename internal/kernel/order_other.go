// SPDX-License-Identifier: BSD-3-Clause

// The order of memory accesses on processors that reorder them. order_amd64.go is for x86.

//go:build !amd64

package kernel

// #cgo CFLAGS: -Wno-unused-parameter
// #include <stdatomic.h>
// #cgo nocallback order
// #cgo noescape order
// static inline void order(void) { atomic_thread_fence(memory_order_acq_rel); }
import "C"

// Order keeps the order of earlier loads and stores of the caller and later ones, except of a store
// and a later load.
func Order() { C.order() }
