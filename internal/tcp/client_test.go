// SPDX-License-Identifier: BSD-3-Clause

// The clients of the tests: an origin's end with a Receiver that keeps all frames.
package tcp

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// client is an origin's end. Its own goroutine polls it, unless the test does.
type client struct {
	fabric   *fabric
	endpoint *endpoint
	sendMu   sync.Mutex // sending

	mu         sync.Mutex
	changed    sync.Cond
	bodyTarget *kernel.Cursor // where the next bodies go; nil: to got
	expects    bool
	frames     [][]byte // head and body of frames
	losses     []error

	head, body []byte
	bodyCursor kernel.Cursor
	closed     atomic.Bool
	stop       atomic.Bool // the goroutine that polls ends
	ended      chan struct{}
}

// newClient is an origin of rank me; nothing is connected.
func newClient(t testing.TB, me transport.Rank, change func(*fabric)) *client {
	probe := &fabric{FabricConfig: config(me, 1)}
	if change != nil {
		change(probe)
	}
	f, err := open(probe.options, probe.FabricConfig)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{fabric: f.(*fabric), ended: make(chan struct{})}
	c.changed.L = &c.mu
	t.Cleanup(c.close)
	return c
}

// connect dials, and polls from then on.
func (c *client) connect(addr []byte, to transport.Rank) error {
	e, err := c.fabric.Dial(to, addr, c)
	if err != nil {
		return err
	}
	c.endpoint = e.(*endpoint)
	go c.pollLoop()
	return nil
}

func (s *server) dial(t testing.TB, me transport.Rank) *client {
	t.Helper()
	c := newClient(t, me, func(f *fabric) { f.options = s.fabric.options })
	if err := c.connect(s.fabric.Info().Addr, 0); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *client) pollLoop() {
	defer close(c.ended)
	for !c.stop.Load() {
		if c.endpoint.Poll(20) == 0 {
			c.endpoint.Sleep(time.Second)
		}
	}
}

// streamed returns how many bytes of the stream have come, while the client does not poll.
func (c *client) streamed() uint64 {
	c.stop.Store(true)
	c.endpoint.Interrupt()
	<-c.ended
	c.stop.Store(false)
	c.ended = make(chan struct{})
	defer func() { go c.pollLoop() }()
	return c.endpoint.rx.streamed
}

// close says goodbye and closes.
func (c *client) close() {
	if c.closed.Swap(true) {
		return
	}
	if c.endpoint != nil {
		c.endpoint.Send([]byte{opBye}, nil, 0, transport.Now)
		c.stop.Store(true)
		c.endpoint.Interrupt()
		<-c.ended
		c.endpoint.Close(time.Second)
	}
	c.fabric.Close()
}

func (c *client) ExpectsBulk() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.expects
}

// BeginFrame directs the body to bodyTarget, or to memory of its own.
func (c *client) BeginFrame(head []byte, n int64) (transport.Body, error) {
	c.head = append([]byte(nil), head...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bodyTarget != nil {
		return transport.Body{Into: c.bodyTarget}, nil
	}
	c.body = make([]byte, n)
	c.bodyCursor.SetContiguous(addressOf(c.body), n)
	return transport.Body{Into: &c.bodyCursor}, nil
}

func (c *client) Data([]byte) error { return errors.New("data without a place") }
func (c *client) Sent()             {}

func (c *client) EndFrame() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frames = append(c.frames, append(c.head, c.body...))
	c.body = nil
	c.changed.Broadcast()
	return nil
}

func (c *client) Finished() bool { return c.stop.Load() }

func (c *client) Lost(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.losses = append(c.losses, err)
	c.changed.Broadcast()
}

// send sends a frame.
func (c *client) send(head, body []byte) error {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	var at kernel.Cursor
	at.SetContiguous(addressOf(body), int64(len(body)))
	_, err := c.endpoint.Send(head, &at, int64(len(body)), transport.Now)
	return err
}

// nextFrame waits for the next frame and returns its head and body.
func (c *client) nextFrame(t testing.TB) []byte {
	t.Helper()
	late := time.AfterFunc(patience+time.Second, c.changed.Broadcast)
	defer late.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for end := testDeadline(); len(c.frames) == 0; c.changed.Wait() {
		if len(c.losses) > 0 || time.Now().After(end) {
			t.Fatalf("no answer: %v", c.losses)
		}
	}
	b := c.frames[0]
	c.frames = c.frames[1:]
	return b
}

// awaitLoss waits for the loss of the connection, which is reported once.
func (c *client) awaitLoss(t testing.TB) error {
	t.Helper()
	late := time.AfterFunc(patience+time.Second, c.changed.Broadcast)
	defer late.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for end := testDeadline(); len(c.losses) == 0; c.changed.Wait() {
		if time.Now().After(end) {
			t.Fatal("no loss")
		}
	}
	return c.losses[0]
}

// echo sends n bytes some times and compares what comes back.
func (c *client) echo(t testing.TB, times, n int) {
	t.Helper()
	body := make([]byte, n)
	for i := range times {
		for k := range body {
			body[k] = byte(i + k*7)
		}
		if err := c.send([]byte{opEcho}, body); err != nil {
			t.Fatal(err)
		}
		if got := c.nextFrame(t); got[0] != opEcho || !bytes.Equal(got[1:], body) {
			t.Fatalf("%d bytes came back wrong", n)
		}
	}
}
