// SPDX-License-Identifier: BSD-3-Clause

// What the tests of the server share: memory that stands for a node's arena, a server on it, and a client that speaks
// frames by hand and waits for each answer.
package tcp

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Ranks 0 and 1 are on the server's node, 2 and 3 on the clients'.
var testNodes = [][]transport.Rank{{0, 1}, {2, 3}}

// plant is the node's memory: rank 0 owns the first half, rank 1 the second.
type plant struct {
	transport.Node
	mem []byte
}

func (p *plant) base() uintptr { return uintptr(unsafe.Pointer(&p.mem[0])) }

func (p *plant) Owns(local int, addr uintptr, n int64) bool {
	half := uintptr(len(p.mem) / 2)
	lo := p.base() + uintptr(local)*half
	return n >= 0 && addr >= lo && addr <= lo+half && uint64(n) <= uint64(lo+half-addr)
}

// local is the node's own transport, as far as a server needs it.
type local struct {
	transport.Transport
	mu sync.Mutex
}

func (l *local) Acc(_ transport.Peer, x *transport.Xfer, s transport.Scale) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var none kernel.Stripes
	for _, v := range x.Vector {
		kernel.AccVector(none, kernel.Type(s.Type), s.Value, v.Local, v.Remote, v.Bytes)
	}
	if x.Vector == nil {
		kernel.AccStrided(none, kernel.Type(s.Type), s.Value, kernel.Ptr(x.Local.Base), x.Local.Stride,
			kernel.Ptr(x.Remote.Base), x.Remote.Stride, x.Count)
	}
	return nil
}

func (l *local) RMW(_ transport.Peer, r *transport.RMW) error {
	p := kernel.Ptr(r.Addr)
	switch {
	case r.Op == transport.FetchAdd && r.Bytes == 8:
		r.Old = atomic.AddInt64((*int64)(p), r.Operand) - r.Operand
	case r.Op == transport.FetchAdd:
		r.Old = int64(atomic.AddInt32((*int32)(p), int32(r.Operand)) - int32(r.Operand))
	case r.Bytes == 8:
		r.Old = atomic.SwapInt64((*int64)(p), r.Operand)
	default:
		r.Old = int64(atomic.SwapInt32((*int32)(p), int32(r.Operand)))
	}
	return nil
}

// rig is a server and what it acts on.
type rig struct {
	t    testing.TB
	s    *server
	opt  *Options
	node *plant
	lost chan string
}

func newRig(t testing.TB, change func(*Options)) *rig {
	// Not Go's memory, as the arena is not: the race detector cannot see that sockets put accesses in order.
	mem, err := unix.Mmap(-1, 0, 8<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, node: &plant{mem: mem}, lost: make(chan string, 100)}
	r.opt = &Options{WireInfo: transport.WireInfo{Me: 0, Nodes: testNodes, MyNode: 0, Hosts: []string{"here", "there"},
		Secret: []byte("secret"), Node: r.node, Memory: new(local), Handle: echo,
		Lost: func(_ transport.Rank, reason string) { r.lost <- reason }},
		Servers: 1, Timeout: 10 * time.Second, Poll: 20 * time.Microsecond, Buffer: 16 << 20, Gather: 1024}
	if change != nil {
		change(r.opt)
	}
	ln, _, err := listen(loopback, "")
	if err != nil {
		t.Fatal(err)
	}
	if r.s, err = startServer(r.opt, ln); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.s.close()
		unix.Munmap(mem)
		select {
		case reason := <-r.lost:
			t.Errorf("lost: %s", reason)
		default:
		}
	})
	return r
}

// echo answers a call with the body and who asked whom.
func echo(from, to transport.Rank, m transport.Msg, reply func([]byte)) {
	if reply != nil {
		reply(append([]byte(fmt.Sprintf("%d>%d %d:", from, to, m.Kind)), m.Body...))
	}
}

// caller is a client that waits for every answer.
type caller struct {
	t  testing.TB
	fd int
	id uint64
}

// pair gives a client over a socket pair, without a handshake.
func (r *rig) pair(from transport.Rank) *caller {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.s.adopt(unix.EPOLL_CTL_ADD, fds[0], from); err != nil {
		r.t.Fatal(err)
	}
	return &caller{t: r.t, fd: fds[1]}
}

// dial gives a client over TCP.
func (r *rig) dial(from transport.Rank) *caller {
	fd := r.connect()
	if err := shakeHands(fd, r.opt.Secret, 0, from, soon()); err != nil {
		r.t.Fatal(err)
	}
	return &caller{t: r.t, fd: fd}
}

func (r *rig) connect() int {
	sa, err := unix.Getsockname(r.s.lobby.ln)
	if err != nil {
		r.t.Fatal(err)
	}
	fd, err := connect(addrPort(sa), &Options{Timeout: time.Second}, soon())
	if err != nil {
		r.t.Fatal(err)
	}
	return fd
}

func soon() time.Time { return time.Now().Add(10 * time.Second) }

func (c *caller) send(b []byte) {
	c.t.Helper()
	if err := sendFull(c.fd, b, soon()); err != nil {
		c.t.Fatal(err)
	}
}

// frame makes a request.
func frame(h header, desc, data []byte) []byte {
	h.Desc = uint16(len(desc))
	return append(append(h.append(nil), desc...), data...)
}

// ask sends a request and gives its answer.
func (c *caller) ask(h header, desc, data []byte) (header, []byte) {
	c.t.Helper()
	c.id++
	h.ID = c.id
	c.send(frame(h, desc, data))
	r, b := c.answer()
	if r.ID != c.id {
		c.t.Fatalf("answer %+v to request %d", r, c.id)
	}
	return r, b
}

// answer takes the next reply with what follows its header.
func (c *caller) answer() (h header, b []byte) {
	c.t.Helper()
	var head [headerBytes]byte
	if err := recvFull(c.fd, head[:], soon()); err != nil {
		c.t.Fatal(err)
	}
	h.decode(head[:])
	b = make([]byte, int64(h.Desc)+h.payload())
	if err := recvFull(c.fd, b, soon()); err != nil {
		c.t.Fatal(err)
	}
	return h, b
}

func (c *caller) fence() {
	c.t.Helper()
	if h, _ := c.ask(header{Kind: kindFence}, nil, nil); h.Kind != kindFenced {
		c.t.Fatalf("fence: %+v", h)
	}
}

func (c *caller) bye() {
	c.send(frame(header{Kind: kindBye}, nil, nil))
	unix.Close(c.fd)
}

// scaleOf is the descriptor of an accumulate of doubles.
func scaleOf(f uint64) []byte { return binary.LittleEndian.AppendUint64(make([]byte, 0, 16), f)[:16] }
