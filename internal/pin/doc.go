// SPDX-License-Identifier: BSD-3-Clause

// Package pin keeps memory registered with a device: the arena of the node until the end (arena.go), memory of the application
// between transfers, within a budget, until the application unmaps it (cache.go). All it knows of a device is that it registers
// memory. It must not know transfers, or which memory is worth registering.
package pin
