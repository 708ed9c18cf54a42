// SPDX-License-Identifier: BSD-3-Clause

// Scenarios that run on a joined node.
package shm

var joined = map[string]func(*rank){}
