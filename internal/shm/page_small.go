// SPDX-License-Identifier: BSD-3-Clause

// The unit of allocation where all kernels have pages of 4 KiB. page_large.go is for other
// processors.

//go:build !arm64 && !ppc64le

package shm

// page is the unit of allocation: a multiple of every page size that a kernel for this processor
// may have.
const page = 4096
