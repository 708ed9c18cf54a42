// SPDX-License-Identifier: BSD-3-Clause

// One connection to the job server: hello, then requests until it ends.
// ranks.go and exchange.go execute them.

package jobserver

import (
	"fmt"
	"net"
	"time"

	"libarmci/internal/bootstrap/jobwire"
)

const (
	helloTimeout = 10 * time.Second // for a connection to prove itself

	// A rank has at most an exchange and an abort or bye unanswered.
	maxUnsent = 4
)

// session is one connection. Its goroutine reads requests; another one writes the frames of outbox.
type session struct {
	server *Server
	conn   net.Conn
	rank   int         // -1 before hello and after bye
	outbox chan []byte // frames
}

func newSession(s *Server, conn net.Conn) *session {
	return &session{server: s, conn: conn, rank: -1, outbox: make(chan []byte, maxUnsent)}
}

// serve owns the connection and closes it, unless it is a proxy's.
func (se *session) serve() {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		se.writeOutbox()
	}()
	host := -1
	var refusal error
	if admitted := se.handshake(&host); admitted && host < 0 {
		for more := true; more; {
			more, refusal = se.serveRequest()
		}
	}
	se.server.sessionEnded(se, refusal) // from here on no frame is sent
	close(se.outbox)
	select {
	case <-sent:
	case <-time.After(time.Second): // a rank that does not read its last answer
	}
	if host >= 0 {
		<-sent
		se.server.onAttach(host, se.conn)
		return
	}
	se.conn.Close()
	<-sent
}

// writeOutbox writes the frames that were queued, so that a rank that does not read blocks no
// other.
func (se *session) writeOutbox() {
	for frame := range se.outbox {
		if jobwire.WriteEncoded(se.conn, frame) != nil {
			se.conn.Close() // serveRequest notices; later frames are dropped
		}
	}
}

// send queues a frame. It never blocks: more unread answers than the protocol allows end the
// connection.
func (se *session) send(kind jobwire.Kind, payload []byte) {
	frame, err := jobwire.Encode(kind, payload)
	if err != nil {
		frame, _ = jobwire.Encode(jobwire.Refused, []byte(err.Error()))
	}
	se.queueFrame(frame)
}

// queueFrame is send of an encoded frame, which several ranks may get.
func (se *session) queueFrame(frame []byte) {
	select {
	case se.outbox <- frame:
	default:
		se.conn.Close()
	}
}

func (se *session) sendRefusal(err error) {
	se.send(jobwire.Refused, []byte(err.Error()))
}

// handshake admits the rank, or sends it the reason for refusing it. A proxy sends the number of
// its host instead, which is stored in host.
func (se *session) handshake(host *int) bool {
	if jobwire.Trust(se.conn) != nil || jobwire.SetOutage(se.conn, se.server.outage) != nil {
		return false
	}
	se.conn.SetReadDeadline(time.Now().Add(helloTimeout))
	nonce := jobwire.NewNonce()
	se.send(jobwire.Challenge, nonce)
	kinds := []jobwire.Kind{jobwire.Hello, jobwire.Attach}
	if se.server.onAttach == nil {
		kinds = kinds[:1]
	}
	f, err := jobwire.Read(se.conn, kinds...)
	if err != nil {
		return false
	}
	number, of, err := jobwire.CheckHello(se.server.secret, f.Kind, nonce, f.Payload)
	if err == nil && !se.server.waiting.Leave(se.conn) {
		return false // it was dropped
	}
	switch {
	case err != nil:
	case f.Kind == jobwire.Hello:
		err = se.server.admitRank(se, number, of)
	case of != len(se.server.listeners) || number < 0 || number >= of:
		err = fmt.Errorf("host %d of %d is not of this job on %d", number, of,
			len(se.server.listeners))
	default:
		*host = number
	}
	if err != nil {
		se.sendRefusal(err)
		return false
	}
	se.conn.SetReadDeadline(time.Time{})
	se.send(jobwire.Welcome, jobwire.NewWelcome(se.server.secret, f.Payload))
	return true
}

// serveRequest serves one frame and tells whether more may follow. After a refusal, which
// sessionEnded sends, none may.
func (se *session) serveRequest() (more bool, refusal error) {
	f, err := jobwire.Read(se.conn, jobwire.Split, jobwire.Contribute, jobwire.Missing,
		jobwire.Abort, jobwire.Bye)
	if err != nil {
		return false, nil
	}
	switch f.Kind {
	case jobwire.Split, jobwire.Contribute, jobwire.Missing:
		if err := se.server.recordRequest(se, f.Kind, f.Payload); err != nil {
			return false, err
		}
	case jobwire.Abort:
		se.server.passAbort(se.rank, jobwire.UnpackStatus(f.Payload))
		se.send(jobwire.Done, nil)
	case jobwire.Bye:
		se.server.rankSaidBye(se)
		se.send(jobwire.Done, nil)
		return false, nil
	}
	return true, nil
}
