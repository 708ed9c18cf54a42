// SPDX-License-Identifier: BSD-3-Clause

// Package internode moves bytes between nodes over any transport.Fabric: it is the one transport.Transport between nodes.
//
// An origin is a process that posts operations. A target is a node; its data server acts for all ranks there. Reading order:
// transport.go (opening, who is where), target.go (what a process keeps for each node), post.go (which way a transfer
// takes), packed.go and direct.go (the two ways), header.go and descriptor.go (frames), server.go, origin.go and serve.go
// (the data server), fence.go, poller.go and thread.go (who makes progress).
package internode
