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
	firstRetryPause = 100 * time.Millisecond // before a question is repeated
	maxRetryPause   = time.Second
)

// A datagram is its kind, a nonce (of the question, also in its answer), and a sealed hello. Where
// a connection ends, the hello carries a notice.
const (
	connectRequest    = 1
	connectReply      = 2
	disconnectRequest = 3
	helloOffset       = 1 + transport.NonceBytes
)

type nonce = [transport.NonceBytes]byte

type connManager struct {
	fabric    *Fabric
	datagrams qp.Datagrams
	buffers   *pin.Pool // half of it is for receiving
	address   qp.Address
	wakeup    eventfd.FD // ends the thread
	stopped   chan struct{}
	closed    atomic.Bool

	awaitingReply sync.Map // by nonce of a question: chan []byte
	notices       noticeQueue
}

// openManager makes a process reachable.
func openConnManager(f *Fabric) (*connManager, error) {
	m := &connManager{fabric: f, wakeup: eventfd.None, stopped: make(chan struct{})}
	if err := m.openDatagrams(); err != nil {
		m.freeBuffers()
		return nil, err
	}
	go m.handleDatagrams()
	return m, nil
}

func (m *connManager) openDatagrams() (err error) {
	if m.datagrams, err = m.fabric.device.NewDatagrams(datagramBuffers); err != nil {
		return err
	}
	if m.buffers, err = pin.NewPool(m.fabric.bufferMemory, 2*datagramBuffers, datagramBytes); err != nil {
		return err
	}
	for range m.buffers.Count() / 2 {
		if err = m.postReceive(m.buffers.Take()); err != nil {
			return err
		}
	}
	m.address = m.datagrams.Address()
	m.wakeup, err = eventfd.New()
	return err
}

func (m *connManager) postReceive(i int32) error {
	return m.datagrams.Offer(receiveID|uint64(i), m.fabric.bufferPiece(m.buffers, i, 0, datagramBytes))
}

// send sends a datagram, or drops it if there is no free buffer: it is sent again.
func (m *connManager) sendDatagram(kind byte, id nonce, sealed []byte, to *qp.Address) (err error) {
	i := m.buffers.Take()
	if i == noBuffer {
		return nil
	}
	n := copy(m.buffers.Bytes(i), slices.Concat([]byte{kind}, id[:], sealed))
	if err = m.datagrams.Send(uint64(i), m.fabric.bufferPiece(m.buffers, i, 0, n), to); err != nil {
		m.buffers.Put(i)
	}
	return err
}

// ask sends a question, again and again, until there is an answer that proves knowledge of the
// secret.
func (m *connManager) requestConnect(q *transport.Hello, to *qp.Address, limit time.Duration) (a transport.Hello,
	err error) {
	reply := make(chan []byte, 1)
	m.awaitingReply.Store(q.Nonce, reply)
	defer m.awaitingReply.Delete(q.Nonce)
	sealed := q.Seal(m.fabric.cfg.Secret, "origin", nil)
	pause := firstRetryPause
	for end := time.Now().Add(limit); time.Now().Before(end); pause = min(2*pause,
		maxRetryPause) {
		if err := m.sendDatagram(connectRequest, q.Nonce, sealed, to); err != nil {
			return a, err
		}
		select {
		case b := <-reply:
			if err = a.Unseal(b, m.fabric.cfg.Secret, "target", q.Nonce[:]); err == nil {
				return a, nil
			}
			log.Infof("an answer was ignored: %v", err)
		case <-m.stopped:
			return a, errClosed
		case <-time.After(pause):
		}
	}
	return a, fmt.Errorf("it does not answer for %v", limit)
}

func (m *connManager) handleDatagrams() {
	defer log.Guard()
	defer close(m.stopped)
	var done [16]qp.Completion
	for !m.closed.Load() { // it is set before the bell rings
		n, rang, err := m.datagrams.Sleep(done[:], int(m.wakeup), m.resendNotices(time.Now()))
		if rang {
			m.wakeup.Drain()
		}
		if err != nil {
			log.Errorf("nobody can connect any more: %v", err)
			return
		}
		for i := range done[:n] {
			m.handleCompletion(&done[i])
		}
	}
}

func (m *connManager) handleCompletion(c *qp.Completion) {
	if c.ID&receiveID == 0 {
		m.buffers.Put(int32(c.ID))
		return
	}
	i := int32(c.ID &^ receiveID)
	if at := m.datagrams.Header(); c.Status == 0 && int(c.Bytes) > at+helloOffset {
		m.dispatchDatagram(m.buffers.Bytes(i)[at:c.Bytes])
	}
	m.postReceive(i)
}

// hear acts on a datagram.
func (m *connManager) dispatchDatagram(b []byte) {
	id, sealed := nonce(b[1:helloOffset]), b[helloOffset:]
	switch b[0] {
	case connectReply:
		asks, _ := m.awaitingReply.Load(id)
		reply, _ := asks.(chan []byte) // nil if nobody asks
		select {
		case reply <- slices.Clone(sealed):
		default:
		}
	case disconnectRequest:
		m.fabric.handleNotice(sealed)
	case connectRequest:
		a, to, err := m.fabric.answerConnect(sealed)
		if err == nil && a != nil {
			err = m.sendDatagram(connectReply, id, a, to)
		}
		if err != nil {
			log.Infof("a process that wants to connect was ignored: %v", err)
		}
	}
}

// close ends the manager.
func (m *connManager) stop() {
	m.closed.Store(true)
	m.wakeup.Ring()
	<-m.stopped
	m.freeBuffers()
}

func (m *connManager) freeBuffers() {
	if m.datagrams != nil {
		m.datagrams.Close()
	}
	m.buffers.Close()
	m.wakeup.Close()
}
