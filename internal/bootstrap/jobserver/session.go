// SPDX-License-Identifier: BSD-3-Clause

// One connection to the job server: hello, then requests until it ends. What a
// request means for the job is decided in exchange.go.

package jobserver

import (
	"net"
	"time"

	"libarmci/internal/bootstrap/jobwire"
)

const (
	helloTime = 10 * time.Second // for a connection to prove itself

	// A rank has at most an exchange and an abort or bye unanswered.
	unsentMost = 4
)

type session struct {
	server *Server
	conn   *net.UnixConn
	rank   int // -1 before hello and after bye
	outbox chan jobwire.Frame
}

func newSession(s *Server, conn *net.UnixConn) *session {
	return &session{server: s, conn: conn, rank: -1, outbox: make(chan jobwire.Frame, unsentMost)}
}

// serve owns the connection and closes it.
func (se *session) serve() {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		se.deliver()
	}()
	if se.hello() {
		for se.request() {
		}
	}
	se.server.ended(se) // from here on nobody sends
	close(se.outbox)
	select {
	case <-sent:
	case <-time.After(time.Second): // a rank that does not read its last answer
	}
	se.conn.Close()
	<-sent
}

// deliver writes what send queued, so that a rank that does not read holds up nobody else.
func (se *session) deliver() {
	for f := range se.outbox {
		if jobwire.Write(se.conn, f.Kind, f.Payload) != nil {
			se.conn.Close() // request notices; what follows is dropped
		}
	}
}

// send never blocks: more unread answers than the protocol allows end the connection.
func (se *session) send(kind jobwire.Kind, payload []byte) {
	select {
	case se.outbox <- jobwire.Frame{Kind: kind, Payload: payload}:
	default:
		se.conn.Close()
	}
}

func (se *session) refuse(err error) {
	se.send(jobwire.Refused, []byte(err.Error()))
}

// hello admits the rank, or tells it why not.
func (se *session) hello() bool {
	if jobwire.SameUser(se.conn) != nil {
		return false
	}
	se.conn.SetReadDeadline(time.Now().Add(helloTime))
	nonce := jobwire.NewNonce()
	se.send(jobwire.Challenge, nonce)
	f, err := jobwire.Read(se.conn, jobwire.Hello)
	if err != nil {
		return false
	}
	rank, size, err := jobwire.CheckHello(se.server.secret, nonce, f.Payload)
	if err == nil {
		err = se.server.admit(se, rank, size)
	}
	if err != nil {
		se.refuse(err)
		return false
	}
	se.conn.SetReadDeadline(time.Time{})
	se.send(jobwire.Welcome, nil)
	return true
}

// request serves one frame and tells whether more may follow.
func (se *session) request() bool {
	f, err := jobwire.Read(se.conn, jobwire.Contribute, jobwire.Abort, jobwire.Bye)
	if err != nil {
		return false
	}
	switch f.Kind {
	case jobwire.Contribute:
		if err := se.server.contribute(se, f.Payload); err != nil {
			se.refuse(err)
			return false
		}
	case jobwire.Abort:
		se.server.abort(se.rank, jobwire.UnpackStatus(f.Payload))
		se.send(jobwire.Done, nil)
	case jobwire.Bye:
		se.server.bye(se)
		se.send(jobwire.Done, nil)
		return false
	}
	return true
}
