// SPDX-License-Identifier: BSD-3-Clause

// The clients of the tests: an origin's end whose Receiver keeps the frames that come.
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
	f    *fabric
	e    *endpoint
	busy sync.Mutex // sending

	mu      sync.Mutex
	changed sync.Cond
	into    *kernel.Cursor // where the next bodies go; nil: to got
	expects bool
	got     [][]byte // head and body of frames
	losses  []error

	head, body []byte
	at         kernel.Cursor
	stop       atomic.Bool
	ended      chan struct{}
}

// newClient is an origin of rank me; nothing is connected.
func newClient(t testing.TB, me transport.Rank, change func(*fabric)) *client {
	probe := &fabric{FabricConfig: config(me, 1)}
	if change != nil {
		change(probe)
	}
	f, err := open(probe.opt, probe.FabricConfig)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{f: f.(*fabric), ended: make(chan struct{})}
	c.changed.L = &c.mu
	t.Cleanup(c.close)
	return c
}

// connect dials, and polls from then on.
func (c *client) connect(addr []byte, to transport.Rank) error {
	e, err := c.f.Dial(to, addr, c)
	if err != nil {
		return err
	}
	c.e = e.(*endpoint)
	go c.run()
	return nil
}

func (s *server) dial(t testing.TB, me transport.Rank) *client {
	t.Helper()
	c := newClient(t, me, func(f *fabric) { f.opt = s.f.opt })
	if err := c.connect(s.f.Info().Addr, 0); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *client) run() {
	defer close(c.ended)
	for !c.stop.Load() {
		if c.e.Poll(20) == 0 {
			c.e.Sleep(time.Second)
		}
	}
}

// close says goodbye and closes.
func (c *client) close() {
	if c.stop.Swap(true) {
		return
	}
	if c.e != nil {
		c.e.Send([]byte{opBye}, nil, 0, transport.Now)
		c.e.Interrupt()
		<-c.ended
		c.e.Close(time.Second)
	}
	c.f.Close()
}

func (c *client) Expects() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.expects
}

func (c *client) Head(head []byte, n int64) (transport.Body, error) {
	c.head = append([]byte(nil), head...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.into != nil {
		return transport.Body{Into: c.into}, nil
	}
	c.body = make([]byte, n)
	c.at.SetContiguous(addressOf(c.body), n)
	return transport.Body{Into: &c.at}, nil
}

func (c *client) Data([]byte) error { return errors.New("data without a place") }
func (c *client) Sent()             {}

func (c *client) End() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, append(c.head, c.body...))
	c.body = nil
	c.changed.Broadcast()
	return nil
}

func (c *client) Lost(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.losses = append(c.losses, err)
	c.changed.Broadcast()
}

// send sends a frame.
func (c *client) send(head, body []byte) error {
	c.busy.Lock()
	defer c.busy.Unlock()
	var at kernel.Cursor
	at.SetContiguous(addressOf(body), int64(len(body)))
	_, err := c.e.Send(head, &at, int64(len(body)), transport.Now)
	return err
}

// answer waits for the next frame.
func (c *client) answer(t testing.TB) []byte {
	t.Helper()
	late := time.AfterFunc(patience+time.Second, c.changed.Broadcast)
	defer late.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for end := soon(); len(c.got) == 0; c.changed.Wait() {
		if len(c.losses) > 0 || time.Now().After(end) {
			t.Fatalf("no answer: %v", c.losses)
		}
	}
	b := c.got[0]
	c.got = c.got[1:]
	return b
}

// loss waits for the loss of the connection, which is told once.
func (c *client) loss(t testing.TB) error {
	t.Helper()
	late := time.AfterFunc(patience+time.Second, c.changed.Broadcast)
	defer late.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for end := soon(); len(c.losses) == 0; c.changed.Wait() {
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
		if got := c.answer(t); got[0] != opEcho || !bytes.Equal(got[1:], body) {
			t.Fatalf("%d bytes came back wrong", n)
		}
	}
}
