// SPDX-License-Identifier: BSD-3-Clause

// The connection manager receives and sends the datagrams by which processes connect: an origin
// asks with its hello, the target answers with its own. Datagrams may be lost or come twice: the
// origin asks again, the target gives the same answer again. A process that cannot prove that it
// knows the job's secret gets no answer. The manager has a thread of its own, which sleeps while
// there are no datagrams.
package rdma

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/eventfd"
	"libarmci/internal/log"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

const (
	datagramBuffers = 64
	datagramBytes   = 512
	firstPause      = 100 * time.Millisecond // before a question is repeated
	longestPause    = time.Second
)

// A datagram is its kind, a nonce (of the question, also in its answer), and a sealed hello. Where
// a connection ends, the hello carries a notice.
const (
	question = 1
	answer   = 2
	leaving  = 3
	helloAt  = 1 + transport.NonceBytes
)

type nonce = [transport.NonceBytes]byte

type manager struct {
	f      *Fabric
	mail   qp.Datagrams
	pool   *pin.Pool // half of it is for receiving
	self   qp.Address
	bell   eventfd.FD // ends the thread
	ended  chan struct{}
	closed atomic.Bool

	waiting sync.Map // by nonce of a question: chan []byte
	notices notices
}

// openManager makes a process reachable.
func openManager(f *Fabric) (*manager, error) {
	m := &manager{f: f, bell: eventfd.None, ended: make(chan struct{})}
	if err := m.open(); err != nil {
		m.free()
		return nil, err
	}
	go m.run()
	return m, nil
}

func (m *manager) open() (err error) {
	if m.mail, err = m.f.base.NewDatagrams(datagramBuffers); err != nil {
		return err
	}
	if m.pool, err = pin.NewPool(m.f.pinned, 2*datagramBuffers, datagramBytes); err != nil {
		return err
	}
	for range m.pool.Count() / 2 {
		if err = m.offer(m.pool.Take()); err != nil {
			return err
		}
	}
	m.self = m.mail.Address()
	m.bell, err = eventfd.New()
	return err
}

func (m *manager) offer(i int32) error {
	return m.mail.Offer(received|uint64(i), m.f.data(m.pool, i, 0, datagramBytes))
}

// send sends a datagram, or drops it if there is no free buffer: it is sent again.
func (m *manager) send(kind byte, id nonce, sealed []byte, to *qp.Address) (err error) {
	i := m.pool.Take()
	if i == none {
		return nil
	}
	n := copy(m.pool.Bytes(i), slices.Concat([]byte{kind}, id[:], sealed))
	if err = m.mail.Send(uint64(i), m.f.data(m.pool, i, 0, n), to); err != nil {
		m.pool.Put(i)
	}
	return err
}

// ask sends a question, again and again, until there is an answer that proves knowledge of the
// secret.
func (m *manager) ask(q *transport.Hello, to *qp.Address, limit time.Duration) (a transport.Hello,
	err error) {
	reply := make(chan []byte, 1)
	m.waiting.Store(q.Nonce, reply)
	defer m.waiting.Delete(q.Nonce)
	sealed := q.Seal(m.f.cfg.Secret, "origin", nil)
	pause := firstPause
	for end := time.Now().Add(limit); time.Now().Before(end); pause = min(2*pause,
		longestPause) {
		if err := m.send(question, q.Nonce, sealed, to); err != nil {
			return a, err
		}
		select {
		case b := <-reply:
			if err = a.Unseal(b, m.f.cfg.Secret, "target", q.Nonce[:]); err == nil {
				return a, nil
			}
			log.Infof("an answer was ignored: %v", err)
		case <-m.ended:
			return a, errClosed
		case <-time.After(pause):
		}
	}
	return a, fmt.Errorf("it does not answer for %v", limit)
}

func (m *manager) run() {
	defer log.Guard()
	defer close(m.ended)
	var done [16]qp.Completion
	for !m.closed.Load() { // it is set before the bell rings
		n, rang, err := m.mail.Sleep(done[:], int(m.bell), m.repeat(time.Now()))
		if rang {
			m.bell.Drain()
		}
		if err != nil {
			log.Errorf("nobody can connect any more: %v", err)
			return
		}
		for i := range done[:n] {
			m.completed(&done[i])
		}
	}
}

func (m *manager) completed(c *qp.Completion) {
	if c.ID&received == 0 {
		m.pool.Put(int32(c.ID))
		return
	}
	i := int32(c.ID &^ received)
	if at := m.mail.Header(); c.Status == 0 && int(c.Bytes) > at+helloAt {
		m.hear(m.pool.Bytes(i)[at:c.Bytes])
	}
	m.offer(i)
}

// hear acts on a datagram.
func (m *manager) hear(b []byte) {
	id, sealed := nonce(b[1:helloAt]), b[helloAt:]
	switch b[0] {
	case answer:
		asks, _ := m.waiting.Load(id)
		reply, _ := asks.(chan []byte) // nil if nobody asks
		select {
		case reply <- slices.Clone(sealed):
		default:
		}
	case leaving:
		m.f.noticed(sealed)
	case question:
		a, to, err := m.f.greet(sealed)
		if err == nil && a != nil {
			err = m.send(answer, id, a, to)
		}
		if err != nil {
			log.Infof("a process that wants to connect was ignored: %v", err)
		}
	}
}

// close ends the manager.
func (m *manager) close() {
	m.closed.Store(true)
	m.bell.Ring()
	<-m.ended
	m.free()
}

func (m *manager) free() {
	if m.mail != nil {
		m.mail.Close()
	}
	m.pool.Close()
	m.bell.Close()
}
