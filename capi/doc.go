// SPDX-License-Identifier: BSD-3-Clause

// Package main is the C ABI of libarmci.so. The .c files complete plain calls within the node (the
// fast path); the .go files convert C's arguments, call core and msg, print errors and return the
// documented code. No rule of ARMCI is decided here. The same sources are built once per ABI:
// ARMCI_ABI_MPI selects ARMCI-MPI's layouts; a build tag defines it (abi_openmpi.go, abi_mpich.go).
package main

// #cgo CFLAGS: -std=gnu11 -fvisibility=hidden -Wall -Wextra -Wno-unused-parameter
import "C"

func main() {}
