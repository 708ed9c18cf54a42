// SPDX-License-Identifier: BSD-3-Clause

// The data server of the tests: that of a pretended node, with Receivers that store and send back
// frames. Clients send to it over loopback. The first byte of a head is the request. Long because
// both ends of one protocol are here.
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

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

// Requests.
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

func testDeadline() time.Time { return time.Now().Add(patience) }

// config is the configuration of a fabric of the tests.
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
	t        testing.TB
	fabric   *fabric
	listener *listener
	mem      []byte // not Go's, as the arena is not
	// where puts are stored; nil: from the start of mem
	putShape func(n int64) (count, stride []int32)
	refuse   func(from transport.Rank) error // by accept
	onLost   func(end *serverEnd, err error) // may be nil

	mu       sync.Mutex
	changed  sync.Cond
	accepted []*serverEnd
	patient  atomic.Bool // it polls for 20 microseconds after every request
	polling  sync.Mutex  // held by the thread while it polls, and by tests that delay it
	stop     atomic.Bool
	ended    chan struct{}
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
	f, err := open(probe.options, probe.FabricConfig)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, fabric: f.(*fabric), mem: mem, ended: make(chan struct{})}
	s.changed.L = &s.mu
	l, err := f.Listen(s.accept)
	if err != nil {
		t.Fatal(err)
	}
	s.listener = l.(*listener)
	go s.pollLoop()
	t.Cleanup(func() {
		s.close()
		unix.Munmap(mem)
	})
	return s
}

// pollLoop polls, and sleeps while there is no input.
func (s *server) pollLoop() {
	defer close(s.ended)
	runtime.LockOSThread()
	for last := time.Now(); !s.stop.Load(); {
		s.polling.Lock()
		moved := s.listener.Poll(4)
		s.polling.Unlock()
		if moved > 0 {
			last = time.Now()
		}
		if !s.patient.Load() || time.Since(last) > 20*time.Microsecond {
			s.listener.Sleep(s.listener.StopPolling())
			last = time.Now()
		}
		wait.Yield()
	}
}

func (s *server) close() {
	if s.stopPolling() {
		s.closeFabric()
	}
}

// stopPolling ends the thread that polls; false if it has ended before.
func (s *server) stopPolling() bool {
	if s.stop.Swap(true) {
		return false
	}
	s.listener.Interrupt()
	<-s.ended
	return true
}

// closeFabric closes a server of which the thread has ended.
func (s *server) closeFabric() {
	s.listener.Close()
	s.fabric.Close()
}

// accept makes a Receiver of a connection unless refuse returns an error.
func (s *server) accept(from transport.Rank, e transport.TargetEndpoint) (transport.Receiver,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		if err := s.refuse(from); err != nil {
			return nil, err
		}
	}
	end := &serverEnd{server: s, from: from, conn: e.(*conn)}
	s.accepted = append(s.accepted, end)
	s.changed.Broadcast()
	return end, nil
}

// configure changes fields of the server under its lock.
func (s *server) configure(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// awaitConns waits until n connections have been accepted, and returns all of them.
func (s *server) awaitConns(t testing.TB, n int) []*serverEnd {
	t.Helper()
	s.awaitState(t, "connections", func() bool { return len(s.accepted) >= n })
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*serverEnd(nil), s.accepted...)
}

// awaitState waits until met returns true, which is called under the lock.
func (s *server) awaitState(t testing.TB, what string, met func() bool) {
	t.Helper()
	late := time.AfterFunc(patience+time.Second, s.changed.Broadcast)
	defer late.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for end := testDeadline(); !met(); s.changed.Wait() {
		if time.Now().After(end) {
			t.Fatalf("%s: it takes too long", what)
		}
	}
}

// serverEnd is a target's end.
type serverEnd struct {
	server      *server
	from        transport.Rank
	conn        *conn
	head        []byte
	body        []byte
	bodyCursor  kernel.Cursor
	replyCursor kernel.Cursor
	openCalls   atomic.Int32 // that go on
	sentCalls   int
	lossCause   error
	gotGoodbye  bool
}

func (e *serverEnd) beginCall() (leave func()) {
	if e.openCalls.Add(1) != 1 {
		e.server.t.Error("two calls of a Receiver at a time")
	}
	return func() { e.openCalls.Add(-1) }
}

var errStop = errors.New("the test ends this connection")

// BeginFrame directs the body by the request.
func (e *serverEnd) BeginFrame(head []byte, n int64) (transport.Body, error) {
	defer e.beginCall()()
	if len(head) == 0 {
		return transport.Body{}, errors.New("a frame without a head")
	}
	e.head = append(e.head[:0], head...)
	switch head[0] {
	case opEcho, opPost:
		e.body = make([]byte, n)
		e.bodyCursor.SetContiguous(addressOf(e.body), n)
		return transport.Body{Into: &e.bodyCursor}, nil
	case opPut, opPutAck:
		if n > int64(len(e.server.mem)) {
			return transport.Body{}, fmt.Errorf("a put of %d bytes", n)
		}
		e.server.mu.Lock()
		shape := e.server.putShape
		e.server.mu.Unlock()
		if shape == nil {
			e.bodyCursor.SetContiguous(addressOf(e.server.mem), n)
		} else {
			count, stride := shape(n)
			e.bodyCursor.SetStrided(addressOf(e.server.mem), count, stride)
		}
		return transport.Body{Into: &e.bodyCursor}, nil
	case opGet, opBye:
		return transport.Body{}, nil
	case opLoad:
		return transport.Body{Grain: 1}, nil
	}
	return transport.Body{}, fmt.Errorf("a frame of kind %d", head[0])
}

func (e *serverEnd) Data([]byte) error { return nil }

// EndFrame answers the request.
func (e *serverEnd) EndFrame() error {
	defer e.beginCall()()
	switch e.head[0] {
	case opEcho:
		e.replyCursor.SetContiguous(addressOf(e.body), int64(len(e.body)))
		e.conn.Send(e.head, &e.replyCursor, int64(len(e.body)), transport.Now)
	case opPost:
		e.conn.Post(e.head, e.body)
	case opLoad, opPutAck:
		e.conn.Send(e.head, nil, 0, transport.Now)
	case opGet:
		count, stride := getShape(e.head)
		e.replyCursor.SetStrided(addressOf(e.server.mem), count, stride)
		e.conn.Send(e.head[:1], &e.replyCursor, e.replyCursor.Left(), transport.Now)
	case opBye:
		e.gotGoodbye = true
		return errStop
	}
	return nil
}

func (e *serverEnd) Sent() { e.sentCalls++ }

func (e *serverEnd) Finished() bool { return e.gotGoodbye }

func (e *serverEnd) ExpectsBulk() bool { return false }

// Lost records the cause, and calls onLost.
func (e *serverEnd) Lost(err error) {
	defer e.beginCall()()
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	if e.server.onLost != nil {
		e.server.onLost(e, err)
	}
	if e.lossCause != nil {
		e.server.t.Error("Lost is called twice")
	}
	e.lossCause = err
	e.server.changed.Broadcast()
}

// lossOf waits for the loss of a connection.
func (s *server) lossOf(t testing.TB, e *serverEnd) error {
	t.Helper()
	s.awaitState(t, "the loss of a connection", func() bool { return e.lossCause != nil })
	return e.lossCause
}

// getHead asks for rows of row bytes, 128 bytes apart.
func getHead(row, rows int) []byte {
	return fmt.Appendf([]byte{opGet}, "%08d%08d", row, rows)
}

func getShape(head []byte) (count, stride []int32) {
	var row, rows int
	fmt.Sscanf(string(head[1:]), "%8d%8d", &row, &rows)
	return rowShape(row, rows)
}

// rowShape is the shape of rows that do not touch.
func rowShape(row, rows int) (count, stride []int32) {
	return []int32{int32(row), int32(rows)}, []int32{int32(row + 64)}
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// cursorOf is rows of memory, 64 bytes apart.
func cursorOf(b []byte, row, rows int) (c kernel.Cursor) {
	count, stride := rowShape(row, rows)
	c.SetStrided(addressOf(b), count, stride)
	return c
}
