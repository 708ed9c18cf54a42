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
	"libarmci/internal/sys"
	"libarmci/internal/transport"
)

// activeMessages delivers active messages between ranks of the node.
type activeMessages struct {
	opt      *Options
	listener *Listener
	// lose reports a local rank as lost (liveness.reportDeath).
	lose func(local int, reason func() string)
	connections
}

// connections are the connections of active messages. mu guards all other fields.
type connections struct {
	mu      sync.Mutex        // guards the rest
	out     map[int]*outgoing // by local number of the receiver, made on first use
	in      []net.Conn        // accepted
	handler transport.Handler
	closed  bool
}

// outgoing is a connection to a rank of the node. mu serialises the messages on it.
type outgoing struct {
	mu sync.Mutex // one message at a time
	c  *net.UnixConn
}

// A message on a connection: uint32 body length, uint8 kind, body.
const messageHead = 5

// acceptConnections admits connections for active messages, and starts a goroutine to receive from
// each, until the listener is closed.
func (m *activeMessages) acceptConnections() {
	defer log.Guard()
	for {
		conns, err := acceptqueue.AcceptUser(m.listener.socket)
		if err != nil {
			return // closed
		}
		for _, c := range conns {
			f, err := admit(c.(*net.UnixConn), m.opt.Secret, len(m.opt.Ranks))
			if err != nil || f.a != purposeMessages || !m.addIncoming(c) {
				c.Close()
				continue
			}
			go m.receiveMessages(c, int(f.from))
		}
	}
}

// addIncoming stores an incoming connection, for closeConnections. False: that has been called.
func (m *activeMessages) addIncoming(c net.Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.in = append(m.in, c)
	}
	return !m.closed
}

// receiveMessages calls the handler for every message on a connection from a local rank, until it
// ends.
func (m *activeMessages) receiveMessages(c net.Conn, local int) {
	defer log.Guard()
	from := m.opt.Ranks[local]
	head := make([]byte, messageHead)
	for {
		if _, err := io.ReadFull(c, head); err != nil {
			return // the sender has left; if it died, liveness.go reports it
		}
		n := binary.LittleEndian.Uint32(head)
		if n > transport.MaxMessage {
			m.reportMalformed(c, local, n)
			return
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		m.mu.Lock()
		h := m.handler
		m.mu.Unlock()
		if h != nil {
			h(from, m.opt.Ranks[m.opt.Self], transport.Msg{Kind: head[4], Body: body},
				nil)
		}
	}
}

// reportMalformed closes a connection on which a message of n bytes was announced, which is too
// long, and reports its sender as lost.
func (m *activeMessages) reportMalformed(c net.Conn, local int, n uint32) {
	c.Close()
	m.lose(local, func() string {
		return fmt.Sprintf("rank %d has announced a message of %d bytes to rank %d, "+
			"where %d are the most: its memory is damaged",
			m.opt.Ranks[local], n, m.opt.Ranks[m.opt.Self], transport.MaxMessage)
	})
}

// Handle sets the handler of messages. It is called before the first message can be sent.
func (m *activeMessages) Handle(h transport.Handler) {
	m.mu.Lock()
	m.handler = h
	m.mu.Unlock()
}

// sendMessage sends an active message to a local rank. Messages to one rank are serialised.
func (m *activeMessages) sendMessage(local int, msg transport.Msg) error {
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
	if err := sys.Send(o.c, append(head, msg.Body...), nil); err != nil {
		return fmt.Errorf("message to rank %d: %w (%v)", m.opt.Ranks[local],
			transport.ErrPeerDead, err)
	}
	return nil
}

// connectionTo returns the connection to a local rank, and makes it on first use.
func (m *activeMessages) connectionTo(local int) (*outgoing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, transport.ErrClosed
	}
	if o := m.out[local]; o != nil {
		return o, nil
	}
	c, err := dialRank(m.opt.Listeners[local], hello{purpose: purposeMessages, self: m.opt.Self,
		secret: m.opt.Secret})
	if err != nil {
		return nil, fmt.Errorf("reach rank %d: %w (%v)", m.opt.Ranks[local],
			transport.ErrPeerDead, err)
	}
	if m.out == nil {
		m.out = map[int]*outgoing{}
	}
	m.out[local] = &outgoing{c: c}
	return m.out[local], nil
}

// closeConnections closes all connections and refuses new ones.
func (m *activeMessages) closeConnections() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for _, o := range m.out {
		o.c.Close()
	}
	for _, c := range m.in {
		c.Close()
	}
}
