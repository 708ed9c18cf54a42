// SPDX-License-Identifier: BSD-3-Clause

// The order of memory accesses on x86, which keeps all that is asked for here. order_other.go is
// for other processors.

package kernel

// Order keeps the order of earlier loads and stores of the caller and later ones, except of a store
// and a later load. This processor does so by itself, and a call from Go is a barrier for the
// compiler where the accesses are in C.
func Order() {}
