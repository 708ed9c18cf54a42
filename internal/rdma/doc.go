// SPDX-License-Identifier: BSD-3-Clause

// Package rdma is the fabric of InfiniBand and RoCE: one reliable connection for each pair of process and remote node, over
// which the origin writes and reads the node's registered memory itself, and exchanges frames with the node's data server.
// It must not know what is in a frame, ARMCI's rules, or other fabrics.
//
// Reading order: fabric.go (what a process has), connect.go (how two meet), queue.go (completions), end.go and ring.go (what
// is in flight), origin.go and target.go (the two ends), direct.go (transfers by the device), loss.go (how an end ends), wait.go
// (the progress thread).
package rdma
