// SPDX-License-Identifier: BSD-3-Clause

// The unit of allocation where a kernel may have pages of 64 KiB. page_small.go is for other
// processors.

//go:build arm64 || ppc64le

package shm

// page is the unit of allocation: a multiple of every page size that a kernel for this processor
// may have.
const page = 64 << 10
