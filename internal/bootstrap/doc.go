// SPDX-License-Identifier: BSD-3-Clause

// Package bootstrap detects how this process was started (by an MPI launcher, by
// armcirun, or alone), its rank and the size of the job. It exchanges a few bytes
// between ranks at init, creates communicators for the application, and ends the
// job. It moves no data of ARMCI operations and links no MPI.
package bootstrap
