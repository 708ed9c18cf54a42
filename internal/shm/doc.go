// SPDX-License-Identifier: BSD-3-Clause

// Package shm is one machine: the arena that all its ranks map at the same address, the control
// block with their locks, barriers and mailboxes, and the transport between them, which is a memory
// copy. It implements transport.Node and transport.Transport and never imports core.
package shm

// #cgo CFLAGS: -std=gnu11 -fvisibility=hidden -Wall -Wextra -Wno-unused-parameter
import "C"
