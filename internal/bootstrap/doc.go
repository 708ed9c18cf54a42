// SPDX-License-Identifier: BSD-3-Clause

// Package bootstrap finds out how this process was started: which rank of how
// many, under an MPI, under armcirun or alone. It carries a few bytes between
// the ranks at init, makes the communicators the library hands out, and ends
// the job. It moves no data of ARMCI operations, and links no MPI.
package bootstrap
