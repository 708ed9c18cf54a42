// SPDX-License-Identifier: BSD-3-Clause

// Package lab holds protocols of the papers that the cost model never chooses and that only settings force, so that they can
// be tested and measured: the eager ring, whose slots origins claim by atomics of the target's device (paper 004's
// host-based, NIC-assisted method), and accumulates by the origin's device under locks in the target's memory (paper 003,
// section 4.3). Package rdma plugs them in at one place; nothing else may depend on them.
package lab

import "libarmci/internal/rdma/verbs"

// Place is registered memory of a target; Hi is 0 if there is none. Its encoding has a fixed size.
type Place struct {
	Lo, Hi uint64
	Key    uint32
}

// Places are the eager ring and the locks for accumulates: what a target tells an origin.
type Places struct{ Ring, Locks Place }

// Port is what the protocols need of an origin's connection. Its buffers are registered.
type Port interface {
	Buffer() (b int32, err error) // blocks
	Bytes(b int32) []byte
	Data(b int32, off, n int) verbs.Data
	// Run posts a chain of requests, calls meanwhile, and waits until the chain is complete.
	Run(r []verbs.Request, d []verbs.Data, meanwhile func()) error
	// Last posts a chain and returns. The buffer is free again when the chain is complete.
	Last(b int32, r []verbs.Request, d []verbs.Data) error
}
