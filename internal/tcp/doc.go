// SPDX-License-Identifier: BSD-3-Clause

// Package tcp is the transport between nodes over any IP network: data servers that act on the memory of a whole node,
// and clients that hold one connection for each pair of process and remote node. docs/wire.md describes what travels.
// It must not know ARMCI's argument rules or other transports, and must never wait inside Go's network poller.
package tcp
