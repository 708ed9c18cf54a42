// Package kernel moves bytes and does arithmetic on user data: copies, strided walks, packing,
// accumulate with its locks, reductions. The work is done in C (kernel.h has the contract of every
// function); this package is the same functions for Go callers. It must not know ranks, regions or
// transports, and it reports no errors: callers check arguments first. All functions may be called
// from any goroutine.
//
// SPDX-License-Identifier: BSD-3-Clause
package kernel
