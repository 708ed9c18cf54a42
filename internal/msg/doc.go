// SPDX-License-Identifier: BSD-3-Clause

// Package msg is armci_msg_*: messages, broadcast, reductions, selection and trees over the ranks
// of a group or a scope of it. It decides which ranks take part; core's teams do the work. It
// starts no threads and keeps no state.
package msg
