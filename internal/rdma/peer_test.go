// SPDX-License-Identifier: BSD-3-Clause

// A peer of a test that is a process of its own, so that it can be stopped and killed: this test
// binary, started again. It is rank 1, alone on its node, serves its memory, and ends when its
// input does.
package rdma

import (
	"fmt"
	"os"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/internode"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "peer" {
		os.Exit(peerMain())
	}
	if err := refusedArgs(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// peerTimeout is when a host is given up, which takes up to twice that.
const peerTimeout = 5 * time.Second

// peerMemory is what a process of a test lets others reach.
const peerMemory = 4 << 20

// ownedMemory is a node whose rank owns one piece of memory.
type ownedMemory struct {
	transport.NodeMemory
	base uintptr
}

func newOwnedMemory() (*ownedMemory, error) {
	b, err := unix.Mmap(-1, 0, peerMemory, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	return &ownedMemory{base: uintptr(unsafe.Pointer(&b[0]))}, nil
}

func (g *ownedMemory) InRegionOf(_ int, addr uintptr, n int64) bool {
	return n >= 0 && g.InArena(addr) && n <= int64(g.base)+peerMemory-int64(addr)
}

func (g *ownedMemory) InArena(addr uintptr) bool {
	return addr >= g.base && addr-g.base < peerMemory
}

func (g *ownedMemory) ArenaRange() (uintptr, int64) { return g.base, peerMemory }

func (g *ownedMemory) RegionAt(addr uintptr) (uintptr, int64) {
	if g.InArena(addr) {
		return g.base, peerMemory
	}
	return 0, 0
}

func (g *ownedMemory) MappedHere(int, uintptr) bool { return true }

func (g *ownedMemory) KeepPages() {}

func (g *ownedMemory) RecordStore(int) {}

func (g *ownedMemory) Declared(uintptr) (uintptr, int64) { return 0, 0 }

func (g *ownedMemory) DeviceLocks() (uintptr, int) { return 0, 0 }

// singleRankOptions are the settings of one of two nodes of one rank.
func singleRankOptions(rank int, g *ownedMemory) internode.Options {
	o := internode.Options{Poll: 20 * time.Microsecond,
		Settings: transport.Settings{Timeout: peerTimeout, Reconnect: true, Eager: 8 << 10,
			Buffer: 4 << 20, Looks: func() int { return 100 }}}
	o.OpenInfo = transport.OpenInfo{Me: transport.Rank(rank),
		Nodes: [][]transport.Rank{{0}, {1}}, MyNode: rank,
		Hosts: []string{"here", "there"}, Secret: []byte("secret"), Node: g,
		Memory: &transporttest.Memory{},
		Handle: func(_, _ transport.Rank, m transport.Msg, reply func([]byte)) {
			if reply != nil {
				reply(m.Body)
			}
		}}
	return o
}

// peerMain is the main function of the peer's process. It returns the exit status.
func peerMain() int {
	g, err := newOwnedMemory()
	var tr *internode.Transport
	if err == nil {
		tr, err = internode.Open(Driver(testOptions()), singleRankOptions(1, g))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	transporttest.Greet(transporttest.Greeting{Addr: tr.Info().Addr, Base: g.base})
	tr.Close()
	return 0
}

// localRank is rank 0 of two, with memory of its own.
type localRank struct {
	*internode.Transport
	transporttest.Caller
	base uintptr
}

// newLocalRank opens rank 0; rank 1 is at addr.
func newLocalRank(t testing.TB, addr []byte, change func(*internode.Options)) *localRank {
	t.Helper()
	skipWithoutDevice(t)
	leaktest.Check(t)
	g, err := newOwnedMemory()
	if err != nil {
		t.Fatal(err)
	}
	c := &localRank{base: g.base,
		Caller: transporttest.Caller{T: t, Patience: testTimeout,
			Losses: make(chan string, 10)}}
	o := singleRankOptions(0, g)
	o.OnLoss = func(_ transport.Rank, reason string) { c.Losses <- reason }
	if change != nil {
		change(&o)
	}
	if c.Transport, err = internode.Open(Driver(testOptions()), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		unix.Munmap(memoryAt(g.base, peerMemory))
	})
	if err := c.Connect([]transport.PeerAddr{{Rank: 0}, {Rank: 1, Addr: addr}}); err != nil {
		t.Fatal(err)
	}
	return c
}
