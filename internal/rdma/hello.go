// SPDX-License-Identifier: BSD-3-Clause

// The private data that this fabric adds to a hello: how to reach the queue pair, and where the
// reply is sent, in fixed sizes. And the listening side: a data server accepts origins that have
// proved that they belong to the job.
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

// privateData is the fabric's part of a hello.
type privateData struct {
	Link qp.Link // to connect to
	// Of an origin: which protocols of package lab it uses, and the address for the reply.
	UsesSlots, UsesLocks bool
	Back                 qp.Address
	Places               lab.Places // of a target: what these protocols need
}

// encode encodes privateData or a disconnectNotice.
func encode(x any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, x)
	if err != nil {
		panic(err) // it has no fixed size
	}
	return b
}

// decode decodes what encode returned; an error if the length differs.
func decode(b []byte, x any) error {
	if len(b) != binary.Size(x) {
		return fmt.Errorf("%d bytes instead of %d", len(b), binary.Size(x))
	}
	_, err := binary.Decode(b, binary.LittleEndian, x)
	return err
}

// Listen begins to accept origins. accept is called by the connection manager's thread.
func (f *Fabric) Listen(accept func(transport.Rank, transport.TargetEndpoint) (transport.Receiver,
	error)) (transport.Listener, error) {
	f.listen.mu.Lock()
	defer f.listen.mu.Unlock()
	l, err := f.serverQueue.openListener()
	if err == nil {
		f.listen.accept, f.listen.answered = accept, map[nonce][]byte{}
		f.listen.answeredOrder = nil
	}
	return l, err
}

// Close stops listening, and disconnects the endpoints that are left. It becomes the poller, for up
// to releaseTimeout.
func (q *queue) Close() {
	q.fabric.listen.mu.Lock()
	q.fabric.listen.accept = nil
	q.fabric.listen.mu.Unlock()
	q.closeEndpoints()
}

// answerConnect accepts the origin of a connect request, and returns the reply and its address. A
// nil reply means that the request is ignored. It locks listen.mu. For the connection manager.
func (f *Fabric) answerConnect(sealed []byte) (reply []byte, to *qp.Address, err error) {
	f.listen.mu.Lock()
	defer f.listen.mu.Unlock()
	if f.listen.accept == nil {
		return nil, nil, nil
	}
	var hello transport.Hello
	var peerData privateData
	if err = hello.Unseal(sealed, f.cfg.Secret, "origin", nil); err != nil {
		return nil, nil, err
	}
	if err = decode(hello.Extra, &peerData); err != nil {
		return nil, nil, err
	}
	if reply = f.listen.answered[hello.Nonce]; reply == nil { // it may be a repeated request
		if reply, err = f.acceptConnection(&hello, &peerData); err != nil {
			log.Warnf("rank %d cannot be connected to: %v", hello.From, err)
			return nil, nil, nil
		}
		f.recordAnswer(hello.Nonce, reply)
	}
	return reply, &peerData.Back, nil
}

// answeredRequest is a connect request that was answered.
type answeredRequest struct {
	id         nonce
	answeredAt time.Time
}

// recordAnswer keeps a reply for as long as its request may be repeated: an origin gives up after
// the timeout. The caller holds listen.mu.
func (f *Fabric) recordAnswer(id nonce, reply []byte) {
	f.listen.answered[id] = reply
	f.listen.answeredOrder = append(f.listen.answeredOrder, answeredRequest{id, time.Now()})
	for time.Since(f.listen.answeredOrder[0].answeredAt) > 2*f.cfg.Timeout {
		delete(f.listen.answered, f.listen.answeredOrder[0].id)
		f.listen.answeredOrder = f.listen.answeredOrder[1:]
	}
}

// acceptConnection makes the target's endpoint of a connection, and returns the reply. The caller
// holds listen.mu and has checked the origin's proof.
func (f *Fabric) acceptConnection(hello *transport.Hello,
	peerData *privateData) (reply []byte, err error) {
	if f.cfg.NodeOf(hello.From) < 0 || hello.To != f.cfg.Me || hello.Frame < minMessageBytes {
		return nil, fmt.Errorf("it asks for rank %d, and takes messages of %d bytes",
			hello.To, hello.Frame)
	}
	t, err := newTarget(f)
	if err != nil {
		return nil, err
	}
	t.resume.to, t.resume.connection = noRank, hello.Nonce
	t.limits.message, t.peer.manager = min(f.bufferSize, int(hello.Frame)), peerData.Back
	ownData := privateData{Link: t.pair.Link(), Places: f.openForcedProtocols(peerData)}
	t.eagerRing = f.listen.eagerRing
	if err = t.pair.Connect(&peerData.Link, f.cfg.Timeout); err == nil {
		t.receiver, err = f.listen.accept(hello.From, t)
	}
	if err != nil {
		t.pair.Close()
		return nil, err
	}
	t.peer.pair.Store(t.pair.Peer())
	f.serverQueue.registerEndpoint(&t.endpoint)
	t.send.mu.Lock()
	t.registered = true
	t.send.mu.Unlock()
	f.serverQueue.Interrupt() // its thread has to send pulses from now on
	answer := transport.Hello{From: f.cfg.Me, To: hello.From, Frame: uint32(f.bufferSize),
		Nonce: transport.NewNonce(), Extra: encode(&ownData)}
	return answer.Seal(f.cfg.Secret, "target", hello.Nonce[:]), nil
}

// targetInlineBytes is the longest message of a target that is sent inline, and so frees its buffer
// at once: a frame without a body.
const targetInlineBytes = 96
