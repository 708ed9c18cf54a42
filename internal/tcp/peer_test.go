// SPDX-License-Identifier: BSD-3-Clause

// A peer of a test that is a process of its own, so that it can be stopped and killed: this test binary, started again.
// It is rank 1, alone on its node, serves its memory, and ends when its input does.
package tcp

import (
	"fmt"
	"os"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
	"libarmci/internal/transport"
	"libarmci/internal/transport/transporttest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "peer" {
		os.Exit(peerMain())
	}
	os.Exit(m.Run())
}

// twoNodes are those of a test with a peer.
var twoNodes = [][]transport.Rank{{0}, {1}}

// peerMemory is what a peer process lets others reach.
const peerMemory = 16 << 20

// ground is a node whose rank owns one piece of memory.
type ground struct {
	transport.Node
	base   uintptr
	nbytes int64
}

func newGround(nbytes int) (*ground, error) {
	b, err := unix.Mmap(-1, 0, nbytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
	if err != nil {
		return nil, err
	}
	return &ground{base: uintptr(unsafe.Pointer(&b[0])), nbytes: int64(nbytes)}, nil
}

func (g *ground) Owns(_ int, addr uintptr, n int64) bool {
	return n >= 0 && addr >= g.base && addr <= g.base+uintptr(g.nbytes) && n <= int64(g.base)+g.nbytes-int64(addr)
}

// alone are the options of one of two nodes of one rank.
func alone(rank int, g *ground) Options {
	hint := makeHint()
	o := Options{Servers: 1, Timeout: 5 * time.Second, Poll: 20 * time.Microsecond, Eager: 8 << 10, Buffer: 16 << 20,
		Gather: 1024, Spin: func() int { return 100 }}
	o.WireInfo = transport.WireInfo{Me: transport.Rank(rank), Nodes: twoNodes, MyNode: rank, Hosts: []string{"here", "there"},
		Hints: [][]byte{hint, hint}, Secret: []byte("secret"), Node: g, Memory: &transporttest.Memory{}, Handle: echo}
	return o
}

func peerMain() int {
	g, err := newGround(peerMemory)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	tr, err := Open(alone(1, g))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	transporttest.Greet(transporttest.Greeting{Addr: tr.Info().Addr, Base: g.base})
	tr.Close()
	return 0
}
