// SPDX-License-Identifier: BSD-3-Clause

// The listening side: a data server accepts origins that have proved that they belong to the job.
package rdma

import (
	"errors"
	"fmt"
	"slices"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// Listen begins to accept origins.
func (f *Fabric) Listen(accept func(transport.Rank, transport.Endpoint) (transport.Receiver, error)) (transport.Listener, error) {
	if f.served == nil {
		return nil, errors.New("rdma: this process was not to have a data server")
	}
	f.listening.Lock()
	defer f.listening.Unlock()
	f.accept, f.greeted = accept, map[nonce][]byte{}
	return f.served, nil
}

// Close ends listening, and closes the ends that are left.
func (q *queue) Close() {
	q.f.listening.Lock()
	q.f.accept = nil
	q.f.listening.Unlock()
	q.closeAll()
}

// greet accepts the origin of a question, and returns the answer and where it goes. For the connection manager.
func (f *Fabric) greet(sealed []byte) (reply []byte, to *address, err error) {
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
		f.greeted[q.Nonce] = reply
	}
	return reply, &its.Back, nil
}

// admit makes this end of a connection.
func (f *Fabric) admit(q *transport.Hello, its *extra) (reply []byte, err error) {
	known := slices.ContainsFunc(f.cfg.Nodes, func(ranks []transport.Rank) bool { return slices.Contains(ranks, q.From) })
	if !known || q.To != f.cfg.Me || q.Frame < leastBytes {
		return nil, fmt.Errorf("it asks for rank %d, and takes messages of %d bytes", q.To, q.Frame)
	}
	t, err := newTarget(f)
	if err != nil {
		return nil, err
	}
	t.most, t.peer, t.back = min(f.size, int(q.Frame)), its.Pair, its.Back
	mine := f.extra(t.pair)
	mine.Places = f.places(its)
	t.eager = f.eager
	if err = t.pair.Connect(f.link(&mine, its, &its.Back)); err == nil {
		t.receiver, err = f.accept(q.From, t)
	}
	if err != nil {
		t.pair.Close()
		return nil, err
	}
	f.served.know(&t.end)
	f.served.Interrupt() // there is a pulse to be felt from now on
	a := transport.Hello{From: f.cfg.Me, To: q.From, Frame: uint32(f.size), Nonce: transport.NewNonce(), Extra: encode(&mine)}
	return a.Seal(f.cfg.Secret, "target", q.Nonce[:]), nil
}

// inlineAnswer is how long a frame may be that needs no buffer while it travels: one without a body.
const inlineAnswer = 96
