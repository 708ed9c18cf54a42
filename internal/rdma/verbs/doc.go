// SPDX-License-Identifier: BSD-3-Clause

// Package verbs calls libibverbs, which it loads at run time, so that the library needs no RDMA
// software where there is no RDMA. It has what package rdma uses, and decides nothing.
package verbs
