// SPDX-License-Identifier: BSD-3-Clause

// Package rdma is the transport between nodes over InfiniBand and RoCE: one reliable connection for each pair of process
// and remote node, over which the client writes and reads the node's registered arena itself, and sends messages to
// the node's data server for all else. It must not know ARMCI's argument rules or other transports.
package rdma
