// SPDX-License-Identifier: BSD-3-Clause

// Package pin keeps memory registered with a device: the arena of the node for good (arena.go), memory of the application
// between transfers, within a budget, until the application gives it back to the system (cache.go). It knows a device as
// something that registers memory; it must not know transfers, or which memory is worth registering.
package pin
