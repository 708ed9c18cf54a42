// SPDX-License-Identifier: BSD-3-Clause

// Package main is libarmci-mpirma.so: a preloaded library that carries the one-sided communication
// of unchanged MPI programs (MPI_Win_*, MPI_Put, MPI_Get, MPI_Accumulate and their relatives) over
// this project's engine, for Open MPI, MPICH and MPI 5's standard ABI. The .c files speak with the
// program and with its own MPI, and complete what the node's memory allows; the .go files carry
// what another node has to answer. It must not include mpi.h.
package main

// #cgo CFLAGS: -std=gnu11 -fvisibility=hidden -Wall -Wextra -Wno-unused-parameter
import "C"

func main() {}
