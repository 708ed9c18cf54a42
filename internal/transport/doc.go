// SPDX-License-Identifier: BSD-3-Clause

// Package transport has the types and interfaces between core and the packages below it: peers,
// transfers, messages, errors; Transport moves bytes between processes, Node is what the ranks of a
// node share, Fabric is a network between nodes. It contains no implementation and knows no rule of
// ARMCI.
package transport
