// SPDX-License-Identifier: BSD-3-Clause

// The memory of buffers is bounded, by the accounts of who lends it and as the process grows: many operations are open
// with many peers that read nothing for a while. In the end all data must have arrived.
package tcp

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"libarmci/internal/bootstrap/leaktest"
	"libarmci/internal/transport"
)

const (
	boundPeers  = 24
	boundBuffer = 1 << 20
	openGets    = 100 // strided, for each peer
	openPuts    = 300 // small
	largePuts   = 12  // strided and packed, waited for; and as many that are queued
	largeRows   = 1500
)

// heap is the memory in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// crowd is a client and its peers, which read nothing yet.
type crowd struct {
	*client
	peers   []*sluggish
	release chan struct{}
	all     sync.WaitGroup // peers
	done    atomic.Int64   // operations that are complete
}

func newCrowd(t *testing.T) *crowd {
	leaktest.Check(t)
	c := &crowd{release: make(chan struct{})}
	nodes, hints := [][]transport.Rank{{0}}, [][]byte{makeHint()}
	addrs := []transport.PeerAddr{{Rank: 0}}
	for r := transport.Rank(1); r <= boundPeers; r++ {
		s := &sluggish{t: t, rank: r}
		s.start(c.release, &c.all)
		c.peers = append(c.peers, s)
		nodes, hints = append(nodes, []transport.Rank{r}), append(hints, makeHint())
		addrs = append(addrs, transport.PeerAddr{Rank: r, Addr: []byte(s.addr)})
	}
	c.client = newClient(t, "", func(o *Options) {
		o.Nodes, o.Hints, o.Hosts = nodes, hints, make([]string, len(nodes))
		o.Buffer, o.Gather, o.Timeout = boundBuffer, 1024, time.Minute
	})
	if err := c.Connect(addrs); err != nil {
		t.Fatal(err)
	}
	for i := range memory(c.g.base, peerMemory/2) {
		memory(c.g.base, peerMemory/2)[i] = filler
	}
	return c
}

// finish counts a transfer that has ended.
func (c *crowd) finish(err error) {
	if err != nil {
		c.T.Error(err)
	}
	c.done.Add(1)
}

// rows is a strided transfer of n rows of 64 bytes.
func (c *crowd) rows(base uintptr, n int32, later bool) *transport.Xfer {
	return &transport.Xfer{Known: true, Later: later, Done: c.finish, Count: []int32{64, n},
		Local: transport.Section{Base: base, Stride: []int32{128}}, Remote: transport.Section{Base: 4096, Stride: []int32{128}}}
}

// post starts everything with one peer: what nobody waits for, and stores that wait until they are sent. It returns
// the number of operations, and the bytes that are put.
func (c *crowd) post(p transport.Peer, all *sync.WaitGroup) (ops int, nbytes int64) {
	large, queued := c.rows(c.g.base, largeRows, false), c.rows(c.g.base, largeRows, true)
	get := c.rows(c.g.base+peerMemory/2, 16, true)
	small := plain(c.g.base, 4096, 8)
	small.Known, small.Later, small.Done = true, true, c.finish
	start := func(n int, op func(transport.Peer, *transport.Xfer) error, x *transport.Xfer) {
		ops += n
		all.Go(func() {
			for range n {
				if err := op(p, x); err != nil {
					c.T.Error(err)
				}
			}
		})
	}
	start(openGets, c.Get, get)
	start(openPuts, c.Put, small)
	start(largePuts, c.Put, large)
	start(largePuts, c.Put, queued)
	return ops, int64(openPuts*8 + 2*largePuts*largeRows*64)
}

// still waits until nothing has moved for a while.
func (c *crowd) still() {
	for last, since := int64(-1), time.Now(); time.Since(since) < 200*time.Millisecond; time.Sleep(10 * time.Millisecond) {
		if n := c.done.Load(); n != last {
			last, since = n, time.Now()
		}
	}
}

func TestBuffersAreBounded(t *testing.T) {
	c := newCrowd(t)
	for p := range boundPeers { // connect, with little room in the sockets
		first := plain(c.g.base, 4096, 8)
		first.Known = true
		if err := c.Put(transport.Peer(1+p), first); err != nil {
			t.Fatal(err)
		}
		unix.SetsockoptInt(c.wires[1+p].fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 32<<10)
	}
	before := heap()
	var posting sync.WaitGroup
	ops, nbytes := 0, int64(0)
	for p := range boundPeers {
		n, b := c.post(transport.Peer(1+p), &posting)
		ops += n
		nbytes = 8 + b // of each
	}
	c.still()
	c.check("while nobody reads", before)
	if n := c.done.Load(); n >= int64(ops) {
		t.Errorf("all %d operations are complete: the peers were to be slow", n)
	}
	close(c.release)
	posting.Wait()
	for p := range boundPeers {
		if err := c.Fence(transport.Peer(1 + p)); err != nil {
			t.Error(err)
		}
	}
	for deadline := soon(); c.done.Load() < int64(ops) && time.Now().Before(deadline); {
		c.Progress(time.Millisecond)
	}
	c.check("in the end", before)
	c.Close()
	c.all.Wait()
	if n := c.done.Load(); n != int64(ops) {
		t.Errorf("%d operations of %d are complete", n, ops)
	}
	for _, s := range c.peers {
		if s.put != nbytes || s.bad > 0 {
			t.Errorf("peer %d: %d bytes have come of %d, %d of them wrong", s.rank, s.put, nbytes, s.bad)
		}
	}
}

// check compares the accounts and the growth of the process with the setting.
func (c *crowd) check(when string, before int64) {
	b := &c.buffers
	b.mu.Lock()
	made, most := b.made, b.most
	b.mu.Unlock()
	if made > most || int64(most)*bufferBytes > boundBuffer/2 {
		c.T.Errorf("%s: %d buffers were made, %d may be", when, made, most)
	}
	const entry = 1 << 10 // of what is open
	limit := int64(boundBuffer + entry*boundPeers*(openGets+largePuts))
	grown := heap() - before
	c.T.Logf("%s: %d buffers of %d, %d complete, the process has grown by %d KiB", when, made, most, c.done.Load(), grown>>10)
	if grown > limit {
		c.T.Errorf("%s: the process has grown by %d KiB, allowed are %d", when, grown>>10, limit>>10)
	}
}

// A server whose clients ask for much and read nothing holds no more than it may, and serves them all in the end.
func TestWorksAreBounded(t *testing.T) {
	const clients, gets, rows = 30, 2, 4096
	r := newRig(t, func(o *Options) { o.Buffer = boundBuffer })
	for i := range r.node.mem {
		r.node.mem[i] = filler
	}
	all := make([]*caller, clients)
	for i := range all {
		all[i] = r.dial(transport.Rank(2 + i%2))
		all[i].fence()
	}
	r.s.mu.Lock()
	for _, c := range r.s.table {
		unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 32<<10)
	}
	r.s.mu.Unlock()
	before := heap()
	ask := frame(header{Kind: kindGet, Flags: flagStrided, Addr: uint64(r.node.base()), Bytes: 64 * rows, ID: 1},
		appendStrided(nil, []int32{64, rows}, []int32{128}), nil)
	for _, c := range all {
		for range gets {
			c.send(ask)
		}
	}
	time.Sleep(200 * time.Millisecond)
	p := &r.s.pool
	p.mu.Lock()
	made, most := p.made, p.most
	p.mu.Unlock()
	grown := heap() - before
	t.Logf("%d works of %d, the process has grown by %d KiB", made, most, grown>>10)
	if made > most || int64(most)*workBytes > boundBuffer || grown > boundBuffer {
		t.Errorf("%d works of %d, the process has grown by %d KiB: allowed are %d", made, most, grown>>10, boundBuffer>>10)
	}
	var reading sync.WaitGroup // all at once: clients that do not read keep the works from those that do
	for i, c := range all {
		reading.Go(func() {
			for range gets {
				h, b := c.answer()
				if h.Kind != kindData || len(b) != 64*rows || bytes.Count(b, []byte{filler}) != len(b) {
					t.Errorf("client %d: %+v, or wrong data", i, h)
				}
			}
		})
	}
	reading.Wait()
	for _, c := range all {
		c.bye()
	}
}
