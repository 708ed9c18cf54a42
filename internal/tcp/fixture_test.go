// SPDX-License-Identifier: BSD-3-Clause

// What the tests share: a data server of a pretended node whose Receivers store, send back and keep
// frames, and clients that send to it over loopback. The first byte of a head says what is to be
// done. Long because both ends of one protocol are here.
package tcp

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/bootstrap/leaktest"
	"libarmci/internal/kernel"
	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

// What a frame asks for.
const (
	opEcho   byte = 'e' // its body back, behind the same head
	opGet    byte = 'g' // so many bytes of the server's memory as the head says (getHead)
	opPut    byte = 'p' // its body is stored at the start of the server's memory; no answer
	opPutAck byte = 'a' // the same, and an answer without a body
	opLoad   byte = 'l' // its body is thrown away; an answer without a body
	opBye    byte = 'b'
	opPost   byte = 'x' // its body back by Post
)

// Ranks 0 and 1 are on the server's node, 2 and 3 on the clients'.
var testNodes = [][]transport.Rank{{0, 1}, {2, 3}}

var loopback = netip.MustParseAddr("127.0.0.1")

var loopbackHints = [][]byte{makeHint(), makeHint(), makeHint(), makeHint()}

// patience is far more than anything takes, on a busy machine as well.
const patience = 60 * time.Second

func soon() time.Time { return time.Now().Add(patience) }

// config is what a fabric of the tests is told.
func config(me transport.Rank, node int) transport.FabricConfig {
	return transport.FabricConfig{OpenInfo: transport.OpenInfo{Me: me, Nodes: testNodes,
		MyNode: node,
		Hosts:  []string{"here", "there"}, Hints: loopbackHints, Secret: []byte("secret")},
		Settings: transport.Settings{Timeout: 10 * time.Second, Buffer: 16 << 20,
			Eager: 8 << 10, Looks: func() int { return 50 },
			Unbind: func() {}},
		// a client's own goroutine polls
		Receive: func(transport.OriginEndpoint) bool { return false }}
}

// server is a data server, and the thread that polls it.
type server struct {
	t   testing.TB
	f   *fabric
	l   *listener
	mem []byte // not Go's, as the arena is not
	// where puts are stored; nil: from the start of mem
	shape  func(n int64) (count, stride []int32)
	refuse func(from transport.Rank) error // by accept
	lost   func(end *serverEnd, err error) // may be nil

	mu      sync.Mutex
	changed sync.Cond
	all     []*serverEnd
	patient atomic.Bool // it polls for 20 microseconds after every request
	polling sync.Mutex  // held by the thread while it polls, and by tests that hold it up
	stop    atomic.Bool
	ended   chan struct{}
}

// newServer starts one. change may change the fabric before it listens.
func newServer(t testing.TB, change func(*fabric)) *server {
	leaktest.Check(t)
	mem, err := unix.Mmap(-1, 0, 8<<20, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	c := config(0, 0)
	c.Serves = true
	probe := &fabric{FabricConfig: c}
	if change != nil {
		change(probe)
	}
	f, err := open(probe.opt, probe.FabricConfig)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, f: f.(*fabric), mem: mem, ended: make(chan struct{})}
	s.changed.L = &s.mu
	l, err := f.Listen(s.accept)
	if err != nil {
		t.Fatal(err)
	}
	s.l = l.(*listener)
	go s.run()
	t.Cleanup(func() {
		s.close()
		unix.Munmap(mem)
	})
	return s
}

// run polls, and sleeps when nothing comes.
func (s *server) run() {
	defer close(s.ended)
	runtime.LockOSThread()
	for last := time.Now(); !s.stop.Load(); {
		s.polling.Lock()
		moved := s.l.Poll(4)
		s.polling.Unlock()
		if moved > 0 {
			last = time.Now()
		}
		if !s.patient.Load() || time.Since(last) > 20*time.Microsecond {
			s.l.Sleep(s.l.Rest())
			last = time.Now()
		}
		wait.Yield()
	}
}

func (s *server) close() {
	if s.halt() {
		s.end()
	}
}

// halt ends the thread that polls; false if it has ended before.
func (s *server) halt() bool {
	if s.stop.Swap(true) {
		return false
	}
	s.l.Interrupt()
	<-s.ended
	return true
}

// end closes a server without a thread.
func (s *server) end() {
	s.l.Close()
	s.f.Close()
}

func (s *server) accept(from transport.Rank, e transport.TargetEndpoint) (transport.Receiver,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		if err := s.refuse(from); err != nil {
			return nil, err
		}
	}
	end := &serverEnd{s: s, from: from, c: e.(*conn)}
	s.all = append(s.all, end)
	s.changed.Broadcast()
	return end, nil
}

// set changes what its ends do.
func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// ends waits for n connections that have been accepted.
func (s *server) ends(t testing.TB, n int) []*serverEnd {
	t.Helper()
	s.wait(t, "connections", func() bool { return len(s.all) >= n })
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*serverEnd(nil), s.all...)
}

func (s *server) wait(t testing.TB, what string, met func() bool) {
	t.Helper()
	late := time.AfterFunc(patience+time.Second, s.changed.Broadcast)
	defer late.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for end := soon(); !met(); s.changed.Wait() {
		if time.Now().After(end) {
			t.Fatalf("%s: it takes too long", what)
		}
	}
}

// serverEnd is a target's end.
type serverEnd struct {
	s     *server
	from  transport.Rank
	c     *conn
	head  []byte
	body  []byte
	into  kernel.Cursor
	reply kernel.Cursor
	calls atomic.Int32 // that go on
	sent  int
	lost  error
	bye   bool
}

func (e *serverEnd) enter() (leave func()) {
	if e.calls.Add(1) != 1 {
		e.s.t.Error("two calls of a Receiver at a time")
	}
	return func() { e.calls.Add(-1) }
}

var errStop = errors.New("the test ends this connection")

func (e *serverEnd) Head(head []byte, n int64) (transport.Body, error) {
	defer e.enter()()
	if len(head) == 0 {
		return transport.Body{}, errors.New("a frame without a head")
	}
	e.head = append(e.head[:0], head...)
	switch head[0] {
	case opEcho, opPost:
		e.body = make([]byte, n)
		e.into.SetContiguous(addressOf(e.body), n)
		return transport.Body{Into: &e.into}, nil
	case opPut, opPutAck:
		if n > int64(len(e.s.mem)) {
			return transport.Body{}, fmt.Errorf("a put of %d bytes", n)
		}
		e.s.mu.Lock()
		shape := e.s.shape
		e.s.mu.Unlock()
		if shape == nil {
			e.into.SetContiguous(addressOf(e.s.mem), n)
		} else {
			count, stride := shape(n)
			e.into.SetStrided(addressOf(e.s.mem), count, stride)
		}
		return transport.Body{Into: &e.into}, nil
	case opGet, opBye:
		return transport.Body{}, nil
	case opLoad:
		return transport.Body{Grain: 1}, nil
	}
	return transport.Body{}, fmt.Errorf("a frame of kind %d", head[0])
}

func (e *serverEnd) Data([]byte) error { return nil }

func (e *serverEnd) End() error {
	defer e.enter()()
	switch e.head[0] {
	case opEcho:
		e.reply.SetContiguous(addressOf(e.body), int64(len(e.body)))
		e.c.Send(e.head, &e.reply, int64(len(e.body)), transport.Now)
	case opPost:
		e.c.Post(e.head, e.body)
	case opLoad, opPutAck:
		e.c.Send(e.head, nil, 0, transport.Now)
	case opGet:
		count, stride := getShape(e.head)
		e.reply.SetStrided(addressOf(e.s.mem), count, stride)
		e.c.Send(e.head[:1], &e.reply, e.reply.Left(), transport.Now)
	case opBye:
		e.bye = true
		return errStop
	}
	return nil
}

func (e *serverEnd) Sent() { e.sent++ }

func (e *serverEnd) Expects() bool { return false }

func (e *serverEnd) Lost(err error) {
	defer e.enter()()
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.s.lost != nil {
		e.s.lost(e, err)
	}
	if e.lost != nil {
		e.s.t.Error("Lost is called twice")
	}
	e.lost = err
	e.s.changed.Broadcast()
}

// lossOf waits for the loss of a connection.
func (s *server) lossOf(t testing.TB, e *serverEnd) error {
	t.Helper()
	s.wait(t, "the loss of a connection", func() bool { return e.lost != nil })
	return e.lost
}

// getHead asks for rows of row bytes, 128 bytes apart.
func getHead(row, rows int) []byte {
	return fmt.Appendf([]byte{opGet}, "%08d%08d", row, rows)
}

func getShape(head []byte) (count, stride []int32) {
	var row, rows int
	fmt.Sscanf(string(head[1:]), "%8d%8d", &row, &rows)
	return patch(row, rows)
}

// patch is rows that do not touch, unless there is one.
func patch(row, rows int) (count, stride []int32) {
	return []int32{int32(row), int32(rows)}, []int32{int32(row + 64)}
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// cursorOf is rows of memory, 64 bytes apart.
func cursorOf(b []byte, row, rows int) (c kernel.Cursor) {
	count, stride := patch(row, rows)
	c.SetStrided(addressOf(b), count, stride)
	return c
}
