// SPDX-License-Identifier: BSD-3-Clause

// The connection manager receives and sends the datagrams by which processes connect: an origin
// sends a connect request with its hello, the target replies with its own. Datagrams may be lost or
// come twice: the origin repeats the request, the target sends the same reply again. A process that
// cannot prove that it knows the job's secret gets no reply. The manager has a thread of its own,
// which sleeps while there are no datagrams.
package rdma

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/sys"
	"libarmci/internal/transport"
)

const (
	datagramBuffers = 64
	datagramBytes   = 512
	firstRetryPause = 100 * time.Millisecond // before a request is repeated
	maxRetryPause   = time.Second
)

// A datagram is its kind, a nonce (of the request, also in its reply), and a sealed hello. Where a
// connection ends, the hello carries a disconnectNotice; where it goes on, a resumeNotice.
const (
	connectRequest = 1
	connectReply   = 2
	disconnecting  = 3
	goingOn        = 4
	helloOffset    = 1 + transport.NonceBytes
)

// nonce names a request and its reply.
type nonce = [transport.NonceBytes]byte

// connManager sends and receives a process's datagrams.
type connManager struct {
	fabric        *Fabric
	datagrams     qp.Datagrams
	buffers       *pin.Pool // one half is for receiving
	address       qp.Address
	wakeup        sys.EventFD // ends the thread's sleep
	stopped       chan struct{}
	stopping      atomic.Bool
	awaitingReply sync.Map // by nonce of a request: a chan []byte
	notices       noticeQueue
}

// openConnManager makes a process reachable, and starts the manager's thread.
func openConnManager(f *Fabric) (*connManager, error) {
	m := &connManager{fabric: f, wakeup: sys.NoEventFD, stopped: make(chan struct{})}
	if err := m.openDatagrams(); err != nil {
		m.freeBuffers()
		return nil, err
	}
	go m.handleDatagrams()
	return m, nil
}

// openDatagrams makes the datagram queue pair and posts its receive buffers. After an error the
// caller frees what there is.
func (m *connManager) openDatagrams() (err error) {
	f := m.fabric
	if m.datagrams, err = f.device.NewDatagrams(datagramBuffers); err != nil {
		return err
	}
	m.buffers, err = pin.NewPool(f.bufferRegistrar, 2*datagramBuffers, datagramBytes)
	if err != nil {
		return err
	}
	for range m.buffers.Count() / 2 {
		if err = m.postReceive(m.buffers.TakeBuffer()); err != nil {
			return err
		}
	}
	m.address = m.datagrams.Address()
	m.wakeup, err = sys.NewEventFD()
	return err
}

func (m *connManager) postReceive(i int32) error {
	return m.datagrams.PostReceive(receiveID|uint64(i),
		m.fabric.describeBuffer(m.buffers, i, 0, datagramBytes))
}

// sendDatagram sends a datagram, or drops it if there is no free buffer: callers repeat what gets
// no reply. Any thread may call it.
func (m *connManager) sendDatagram(kind byte, id nonce, sealed []byte, to *qp.Address) error {
	i := m.buffers.TakeBuffer()
	if i == noBuffer {
		return nil
	}
	n := copy(m.buffers.Bytes(i), slices.Concat([]byte{kind}, id[:], sealed))
	err := m.datagrams.Send(uint64(i), m.fabric.describeBuffer(m.buffers, i, 0, n), to)
	if err != nil {
		m.buffers.Put(i)
	}
	return err
}

// requestConnect sends a connect request, and repeats it until there is a reply that proves
// knowledge of the secret. A target that refuses the request sends nothing, so a refusal is a
// timeout here. The caller checks which rank has replied, and its limits.
func (m *connManager) requestConnect(hello *transport.Hello, to *qp.Address,
	limit time.Duration) (a transport.Hello, err error) {
	reply := make(chan []byte, 1)
	m.awaitingReply.Store(hello.Nonce, reply)
	defer m.awaitingReply.Delete(hello.Nonce)
	secret := m.fabric.cfg.Secret
	sealed := hello.Seal(secret, "origin", nil)
	pause := firstRetryPause
	for end := time.Now().Add(limit); time.Now().Before(end); pause = min(2*pause,
		maxRetryPause) {
		if err := m.sendDatagram(connectRequest, hello.Nonce, sealed, to); err != nil {
			return a, err
		}
		select {
		case b := <-reply:
			if err = a.Unseal(b, secret, "target", hello.Nonce[:]); err == nil {
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

// handleDatagrams is the manager's thread. Between datagrams it repeats notices that are due.
func (m *connManager) handleDatagrams() {
	defer log.Guard()
	defer close(m.stopped)
	var done [16]qp.Completion
	for !m.stopping.Load() { // stopThread sets it before it rings
		pause := m.resendNotices(time.Now())
		n, rang, err := m.datagrams.WaitCompletions(done[:], int(m.wakeup), pause)
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

// handleCompletion frees the buffer of a datagram that was sent, or dispatches one that has come
// and posts its buffer again.
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

// dispatchDatagram acts on a datagram by its kind. Its contents are not believed until the hello
// has been unsealed.
func (m *connManager) dispatchDatagram(b []byte) {
	id, sealed := nonce(b[1:helloOffset]), b[helloOffset:]
	switch b[0] {
	case connectReply:
		requests, _ := m.awaitingReply.Load(id)
		reply, _ := requests.(chan []byte) // nil if there is no such request
		select {
		case reply <- slices.Clone(sealed):
		default:
		}
	case disconnecting:
		m.fabric.handleNotice(sealed)
	case goingOn:
		m.fabric.handleResumeNotice(sealed)
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

// stopThread ends the manager's thread, waits for it, and frees the manager.
func (m *connManager) stopThread() {
	m.stopping.Store(true)
	m.wakeup.Signal()
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
