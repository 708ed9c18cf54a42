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
type extra struct {
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
	f.listening.Lock()
	defer f.listening.Unlock()
	l, err := f.served.share()
	if err == nil {
		f.accept, f.greeted, f.recent = accept, map[nonce][]byte{}, nil
	}
	return l, err
}

// Close stops listening, and closes the ends that are left.
func (q *queue) Close() {
	q.f.listening.Lock()
	q.f.accept = nil
	q.f.listening.Unlock()
	q.closeAll()
}

// greet accepts the origin of a question, and returns the answer and where it goes. For the
// connection manager.
func (f *Fabric) greet(sealed []byte) (reply []byte, to *qp.Address, err error) {
	f.listening.Lock()
	defer f.listening.Unlock()
	if f.accept == nil {
		return nil, nil, nil
	}
	var q transport.Hello
	var its extra
	if err = q.Unseal(sealed, f.cfg.Secret, "origin", nil); err != nil {
		return nil, nil, err
	}
	if err = decode(q.Extra, &its); err != nil {
		return nil, nil, err
	}
	if reply = f.greeted[q.Nonce]; reply == nil { // a question may come twice
		if reply, err = f.admit(&q, &its); err != nil {
			log.Warnf("rank %d cannot be connected to: %v", q.From, err)
			return nil, nil, nil
		}
		f.remember(q.Nonce, reply)
	}
	return reply, &its.Back, nil
}

// greeting is a question that was answered.
type greeting struct {
	id nonce
	at time.Time
}

// remember keeps an answer for as long as its question may come again: nobody asks for longer than
// the timeout. The caller has the lock.
func (f *Fabric) remember(id nonce, reply []byte) {
	f.greeted[id] = reply
	f.recent = append(f.recent, greeting{id, time.Now()})
	for time.Since(f.recent[0].at) > 2*f.cfg.Timeout {
		delete(f.greeted, f.recent[0].id)
		f.recent = f.recent[1:]
	}
}

// admit makes this end of a connection.
func (f *Fabric) admit(q *transport.Hello, its *extra) (reply []byte, err error) {
	if f.cfg.NodeOf(q.From) < 0 || q.To != f.cfg.Me || q.Frame < leastMessage {
		return nil, fmt.Errorf("it asks for rank %d, and takes messages of %d bytes", q.To,
			q.Frame)
	}
	t, err := newTarget(f)
	if err != nil {
		return nil, err
	}
	t.most, t.back = min(f.size, int(q.Frame)), its.Back
	mine := extra{Link: t.pair.Link(), Places: f.places(its)}
	t.eager = f.eager
	if err = t.pair.Connect(&its.Link, f.cfg.Timeout); err == nil {
		t.receiver, err = f.accept(q.From, t)
	}
	if err != nil {
		t.pair.Close()
		return nil, err
	}
	t.peer.Store(t.pair.Peer())
	f.served.know(&t.end)
	t.posting.Lock()
	t.known = true
	t.posting.Unlock()
	f.served.Interrupt() // the data server sends pulses from now on
	a := transport.Hello{From: f.cfg.Me, To: q.From, Frame: uint32(f.size),
		Nonce: transport.NewNonce(), Extra: encode(&mine)}
	return a.Seal(f.cfg.Secret, "target", q.Nonce[:]), nil
}

// inlineAnswer is the longest message of a target that is sent inline, and so frees its buffer at
// once: a frame without a body.
const inlineAnswer = 96
