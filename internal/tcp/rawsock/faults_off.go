// SPDX-License-Identifier: BSD-3-Clause

// Calls on sockets as they are: no faults are added (faults_on.go).

//go:build !faults

package rawsock

import "golang.org/x/sys/unix"

// faultOf changes nothing.
func faultOf(_ uintptr, n int) (most int, err unix.Errno) { return n, 0 }

// faultOfPieces changes nothing.
func faultOfPieces(_ uintptr, n int) (most int, err unix.Errno) { return n, 0 }
