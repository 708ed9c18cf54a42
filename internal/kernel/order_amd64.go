// SPDX-License-Identifier: BSD-3-Clause

package kernel

// Order keeps the order of earlier loads and stores of the caller and later ones, except of a store and a later load. This
// processor does so by itself, and a call from Go is a barrier for the compiler where the accesses are in C.
func Order() {}
