// SPDX-License-Identifier: BSD-3-Clause

// Faults of sockets that happen rarely, at random, in a build with the tag `faults`: a call that
// sends finds no room, or room for a part only. Hellos are spared: they fit into an empty buffer.
// (A receiving call takes all that has arrived: the kernel promises that.) `go test -tags faults
// ./internal/tcp` runs the tests so; the seed is printed, and -faults.seed sets it.

//go:build faults

package rawsock

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

var faultsSeed = flag.Uint64("faults.seed", 0, "seed of the faults of sockets; 0: a new one")

// faults chooses. Calls of several threads take numbers in the order in which they come.
var faults struct {
	mu  sync.Mutex // guards rnd
	rnd *rand.Rand // nil before the first call
}

// nextFault returns a number below n. The caller holds the lock of faults.
func nextFault(n int) int {
	if faults.rnd == nil {
		if *faultsSeed == 0 {
			*faultsSeed = rand.Uint64()
		}
		fmt.Fprintf(os.Stderr, "-faults.seed=%d\n", *faultsSeed)
		faults.rnd = rand.New(rand.NewPCG(*faultsSeed, 0))
	}
	return faults.rnd.IntN(n)
}

const maxHello = 128 // bytes

// faultOf returns how many of n bytes a call may move, or the error that it returns instead.
func faultOf(call uintptr, n int) (most int, err unix.Errno) {
	if call != unix.SYS_SENDTO || n <= maxHello {
		return n, 0
	}
	return choose(n)
}

// faultOfPieces is faultOf for a call that moves n pieces, each of them whole.
func faultOfPieces(call uintptr, n int) (most int, err unix.Errno) {
	if call != unix.SYS_SENDMSG {
		return n, 0
	}
	return choose(n)
}

// choose returns n, or a part of it, or no room.
func choose(n int) (most int, err unix.Errno) {
	faults.mu.Lock()
	defer faults.mu.Unlock()
	switch nextFault(6) {
	case 0:
		return n, unix.EAGAIN
	case 1:
		return 1 + nextFault(n), 0
	}
	return n, 0
}
