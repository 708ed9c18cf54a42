// SPDX-License-Identifier: BSD-3-Clause

// Active messages between ranks of a node, over unix sockets: a goroutine of the receiver sleeps in
// the kernel until one arrives, so that ranks that compute receive, too. Bulk data never travels
// this way.
package shm

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"

	"libarmci/internal/acceptqueue"
	"libarmci/internal/log"
	"libarmci/internal/sock"
	"libarmci/internal/transport"
)

// connections are the connections of active messages: outgoing ones, made on first use, by the
// local number of the receiver, and incoming ones. mu guards all other fields.
type connections struct {
	mu      sync.Mutex
	out     map[int]*outgoing
	in      []net.Conn
	handler transport.Handler
	closed  bool
}

// outgoing is a connection to a rank of the node. mu serialises the messages on it.
type outgoing struct {
	mu sync.Mutex
	c  *net.UnixConn
}

// A message on a connection: uint32 body length, uint8 kind, body.
const messageHead = 5

// accept admits connections for active messages, and starts a goroutine to receive from each, until
// the listener is closed.
func (m *Node) accept() {
	defer log.Guard()
	for {
		conns, err := acceptqueue.AcceptUser(m.listener.l)
		if err != nil {
			return // closed
		}
		for _, c := range conns {
			f, err := admit(c.(*net.UnixConn), m.opt.Secret, len(m.opt.Ranks))
			if err != nil || f.a != purposeMessages || !m.conns.keep(c) {
				c.Close()
				continue
			}
			go m.receive(c, int(f.from))
		}
	}
}

// keep stores an incoming connection, for close. False: close has been called.
func (w *connections) keep(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.in = append(w.in, c)
	}
	return !w.closed
}

// receive calls the handler for every message on a connection from a local rank, until it ends.
func (m *Node) receive(c net.Conn, local int) {
	defer log.Guard()
	from := m.opt.Ranks[local]
	head := make([]byte, messageHead)
	for {
		if _, err := io.ReadFull(c, head); err != nil {
			return // the sender has left; if it died, liveness.go reports it
		}
		n := binary.LittleEndian.Uint32(head)
		if n > transport.MaxMessage {
			m.violation(c, local, n)
			return
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		m.conns.mu.Lock()
		h := m.conns.handler
		m.conns.mu.Unlock()
		if h != nil {
			h(from, m.opt.Ranks[m.opt.Self], transport.Msg{Kind: head[4], Body: body},
				nil)
		}
	}
}

// violation closes a connection on which a message of n bytes was announced, which is too long, and
// reports its sender as lost.
func (m *Node) violation(c net.Conn, local int, n uint32) {
	c.Close()
	m.gone(local, func() string {
		return fmt.Sprintf("rank %d has announced a message of %d bytes to rank %d, "+
			"where %d are the most: its memory is damaged",
			m.opt.Ranks[local], n, m.opt.Ranks[m.opt.Self], transport.MaxMessage)
	})
}

// Handle sets the handler of messages. It is called before the first message can be sent.
func (m *Node) Handle(h transport.Handler) {
	m.conns.mu.Lock()
	m.conns.handler = h
	m.conns.mu.Unlock()
}

// post sends an active message to a local rank. Messages to one rank are serialised.
func (m *Node) post(local int, msg transport.Msg) error {
	if len(msg.Body) > transport.MaxMessage {
		return fmt.Errorf("message of %d bytes to rank %d: %w", len(msg.Body),
			m.opt.Ranks[local], transport.ErrTooLong)
	}
	o, err := m.connectionTo(local)
	if err != nil {
		return err
	}
	head := make([]byte, messageHead, messageHead+len(msg.Body))
	binary.LittleEndian.PutUint32(head, uint32(len(msg.Body)))
	head[4] = msg.Kind
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := sock.Send(o.c, append(head, msg.Body...), nil); err != nil {
		return fmt.Errorf("message to rank %d: %w (%v)", m.opt.Ranks[local],
			transport.ErrPeerDead, err)
	}
	return nil
}

// connectionTo returns the connection to a local rank, and makes it on first use.
func (m *Node) connectionTo(local int) (*outgoing, error) {
	w := &m.conns
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, transport.ErrClosed
	}
	if o := w.out[local]; o != nil {
		return o, nil
	}
	c, err := dial(m.opt.Listeners[local], hello{purpose: purposeMessages, self: m.opt.Self,
		secret: m.opt.Secret})
	if err != nil {
		return nil, fmt.Errorf("reach rank %d: %w (%v)", m.opt.Ranks[local],
			transport.ErrPeerDead, err)
	}
	if w.out == nil {
		w.out = map[int]*outgoing{}
	}
	w.out[local] = &outgoing{c: c}
	return w.out[local], nil
}

// close closes all connections and refuses new ones.
func (w *connections) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, o := range w.out {
		o.c.Close()
	}
	for _, c := range w.in {
		c.Close()
	}
}
