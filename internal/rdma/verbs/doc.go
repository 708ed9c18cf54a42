// SPDX-License-Identifier: BSD-3-Clause

// Package verbs is libibverbs as Go sees it: loaded when the program runs, so that the library
// needs no RDMA software where there is no RDMA. It offers what package rdma uses and decides
// nothing.
package verbs
