// SPDX-License-Identifier: BSD-3-Clause

// What this fabric adds to a hello: how to reach the queue pair, and where the answer is to go, in
// fixed sizes. And the listening side: a data server accepts origins that have proved that they
// belong to the job.
package rdma

import (
	"encoding/binary"
	"fmt"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/rdma/lab"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

// extra is the fabric's part of a hello.
type privateData struct {
	Link qp.Link // to connect to
	// Of an origin: which protocols of package lab it uses, and where the answer is to go.
	UsesSlots, UsesLocks bool
	Back                 qp.Address
	Places               lab.Places // of a target: what these protocols need
}

// encode writes an extra or a notice.
func encode(x any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, x)
	if err != nil {
		panic(err) // it has no fixed size
	}
	return b
}

// decode reads what encode wrote.
func decode(b []byte, x any) error {
	if len(b) != binary.Size(x) {
		return fmt.Errorf("%d bytes instead of %d", len(b), binary.Size(x))
	}
	_, err := binary.Decode(b, binary.LittleEndian, x)
	return err
}

// Listen begins to accept origins.
func (f *Fabric) Listen(accept func(transport.Rank, transport.TargetEndpoint) (transport.Receiver,
	error)) (transport.Listener, error) {
	f.listenMu.Lock()
	defer f.listenMu.Unlock()
	l, err := f.serverQueue.openListener()
	if err == nil {
		f.acceptOrigin, f.answered, f.answeredOrder = accept, map[nonce][]byte{}, nil
	}
	return l, err
}

// Close stops listening, and closes the ends that are left.
func (q *queue) Close() {
	q.fabric.listenMu.Lock()
	q.fabric.acceptOrigin = nil
	q.fabric.listenMu.Unlock()
	q.closeEndpoints()
}

// greet accepts the origin of a question, and returns the answer and where it goes. For the
// connection manager.
func (f *Fabric) answerConnect(sealed []byte) (reply []byte, to *qp.Address, err error) {
	f.listenMu.Lock()
	defer f.listenMu.Unlock()
	if f.acceptOrigin == nil {
		return nil, nil, nil
	}
	var q transport.Hello
	var its privateData
	if err = q.Unseal(sealed, f.cfg.Secret, "origin", nil); err != nil {
		return nil, nil, err
	}
	if err = decode(q.Extra, &its); err != nil {
		return nil, nil, err
	}
	if reply = f.answered[q.Nonce]; reply == nil { // a question may come twice
		if reply, err = f.acceptConnection(&q, &its); err != nil {
			log.Warnf("rank %d cannot be connected to: %v", q.From, err)
			return nil, nil, nil
		}
		f.recordAnswer(q.Nonce, reply)
	}
	return reply, &its.Back, nil
}

// greeting is a question that was answered.
type answeredRequest struct {
	id         nonce
	answeredAt time.Time
}

// remember keeps an answer for as long as its question may come again: nobody asks for longer than
// the timeout. The caller has the lock.
func (f *Fabric) recordAnswer(id nonce, reply []byte) {
	f.answered[id] = reply
	f.answeredOrder = append(f.answeredOrder, answeredRequest{id, time.Now()})
	for time.Since(f.answeredOrder[0].answeredAt) > 2*f.cfg.Timeout {
		delete(f.answered, f.answeredOrder[0].id)
		f.answeredOrder = f.answeredOrder[1:]
	}
}

// admit makes this end of a connection.
func (f *Fabric) acceptConnection(q *transport.Hello, its *privateData) (reply []byte, err error) {
	if f.cfg.NodeOf(q.From) < 0 || q.To != f.cfg.Me || q.Frame < minMessageBytes {
		return nil, fmt.Errorf("it asks for rank %d, and takes messages of %d bytes", q.To,
			q.Frame)
	}
	t, err := newTarget(f)
	if err != nil {
		return nil, err
	}
	t.maxMessage, t.peerManager = min(f.bufferSize, int(q.Frame)), its.Back
	mine := privateData{Link: t.pair.Link(), Places: f.openForcedProtocols(its)}
	t.eagerRing = f.eagerRing
	if err = t.pair.Connect(&its.Link, f.cfg.Timeout); err == nil {
		t.receiver, err = f.acceptOrigin(q.From, t)
	}
	if err != nil {
		t.pair.Close()
		return nil, err
	}
	t.peerPair.Store(t.pair.Peer())
	f.serverQueue.registerEndpoint(&t.endpoint)
	t.sendMu.Lock()
	t.registered = true
	t.sendMu.Unlock()
	f.serverQueue.Interrupt() // the data server sends pulses from now on
	a := transport.Hello{From: f.cfg.Me, To: q.From, Frame: uint32(f.bufferSize),
		Nonce: transport.NewNonce(), Extra: encode(&mine)}
	return a.Seal(f.cfg.Secret, "target", q.Nonce[:]), nil
}

// inlineAnswer is the longest message of a target that is sent inline, and so frees its buffer at
// once: a frame without a body.
const targetInlineBytes = 96
