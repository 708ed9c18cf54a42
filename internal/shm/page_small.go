// SPDX-License-Identifier: BSD-3-Clause

//go:build !arm64 && !ppc64le

package shm

// page is the unit of allocation: a multiple of every page size that a kernel for this processor may have.
const page = 4096
