// SPDX-License-Identifier: BSD-3-Clause

// Package transport holds the words in which core speaks of other processes: peers, transfers, messages, errors, and
// two interfaces: Transport moves bytes to a peer, Node is what the ranks of one machine share. It contains no
// implementation and knows nothing of ARMCI's argument rules.
package transport
