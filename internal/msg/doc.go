// SPDX-License-Identifier: BSD-3-Clause

// Package msg is armci_msg_*: messages, broadcast, reductions, selection and trees over the ranks of a group or a part
// of it. It decides who takes part; the steps are those of the node's teams. It starts nothing and keeps no state.
package msg
