// SPDX-License-Identifier: BSD-3-Clause

//go:build armci_openmpi

// The ABI of ARMCI-MPI with the communicators of Open MPI. A tag, and not a flag of every compiler:
// the packages below are then compiled once for all ABIs. No other package must know the tag.
package main

// #cgo CFLAGS: -DARMCI_ABI_MPI -DARMCI_MPI_OPENMPI
import "C"
