// SPDX-License-Identifier: BSD-3-Clause

// What a data server keeps for one origin: how far it has come, the frame in progress, and the sending of answers. Frames
// come one after the other, from one thread at a time; handlers reply from any thread.
package internode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

type origin struct {
	s      *server
	from   transport.Rank
	ep     transport.Endpoint
	direct transport.DirectEndpoint // ep, if it is one
	frame  int                      // most bytes of a frame; 0: any number

	handled atomic.Uint32 // frames that have taken effect
	bye     atomic.Bool   // the origin has said goodbye

	// Of who receives.
	told    uint32 // so many of the frames the origin knows of
	urgent  bool   // it waits to be told
	c       *context
	message *message // whose parts are arriving
	head    []byte
}

// message is one of which parts are missing.
type message struct {
	header
	body []byte
	got  int
}

// context is what it takes to serve one frame. Its memory is bounded and does not depend on what the origin asks for.
type context struct {
	h      header
	local  int // number of the rank whose memory it is
	layout layout
	at     kernel.Cursor // in the memory that is stored to or sent from
	scale  *[scaleBytes]byte
	adder  adder
	bad    bool   // the memory is not the rank's
	there  []byte // the body of what is neither data nor a message
	other  layout // a push: the origin's memory
	to     kernel.Cursor
}

// contexts keeps those that are not in use.
type contexts struct {
	mu   sync.Mutex
	free []*context
}

func (p *contexts) take() *context {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		c := p.free[n-1]
		p.free = p.free[:n-1]
		return c
	}
	return &context{scale: new([scaleBytes]byte)}
}

func (p *contexts) put(c *context) {
	c.there, c.bad = nil, false
	p.mu.Lock()
	p.free = append(p.free, c)
	p.mu.Unlock()
}

// Expects is for origins only.
func (o *origin) Expects() bool { return false }

// Sent ends the sending of a get's data.
func (o *origin) Sent() { o.drop() }

// drop gives the context back.
func (o *origin) drop() {
	if c := o.c; c != nil {
		o.c = nil
		o.s.contexts.put(c)
	}
}

// answer sends an answer with n bytes from the context's cursor; it tells the origin how far the server has come. Where it
// fails the connection is lost: Lost says so, after what has come before, which may be a goodbye.
func (o *origin) answer(h *header, n int64) {
	h.handled = o.handled.Load()
	h.bytes = uint64(n)
	o.told, o.urgent = h.handled, false
	o.head = h.append(o.head[:0])
	var body *kernel.Cursor
	if n > 0 {
		body = &o.c.at
	}
	_, err := o.ep.Send(o.head, body, n, transport.Now)
	if n == 0 || err != nil {
		o.drop()
	}
}

// respond is answer with bytes that are at hand.
func (o *origin) respond(h *header, body []byte) {
	h.bytes = uint64(len(body))
	o.told, o.urgent = o.handled.Load(), false
	o.post(h, body)
	o.drop()
}

// post sends an answer from any thread, and keeps body.
func (o *origin) post(h *header, body []byte) {
	h.handled = o.handled.Load()
	h.bytes = uint64(len(body))
	o.ep.Post(h.append(nil), body)
}

// acknowledge tells the origin how far the server has come, where it needs to know and no answer has told it.
func (o *origin) acknowledge() {
	n := o.handled.Load() - o.told
	if n == 0 || !o.urgent && (o.s.t.info.Credits == 0 || n < uint32(o.s.t.info.Credits)/2) {
		return
	}
	o.answer(&header{kind: kindAck}, 0)
}

// reply answers a call, from any thread, in parts where frames are bounded.
func (o *origin) reply(id uint64, body []byte) {
	if len(body) > maxMessage {
		why := fmt.Sprintf("the reply has %d bytes, %d at most are possible", len(body), maxMessage)
		o.post(&header{kind: kindRefused, what: whySense, id: id}, []byte(why))
		return
	}
	most := len(body)
	if o.frame > 0 {
		most = min(most, o.frame-headerBytes)
	}
	for at := 0; ; {
		n := min(len(body)-at, most)
		o.post(&header{kind: kindReply, id: id, addr: uint64(at), arg: uint64(len(body))}, body[at:at+n])
		if at += n; at == len(body) {
			return
		}
	}
}

// tell sends the origin's process a message; false if it is too long for that.
func (o *origin) tell(m transport.Msg) bool {
	if o.frame > 0 && len(m.Body) > o.frame-headerBytes {
		return false
	}
	o.post(&header{kind: kindTell, what: m.Kind, rank: uint32(o.from)}, bytes.Clone(m.Body))
	return true
}

// errGoodbye ends the connection of an origin that has said that nothing follows.
var errGoodbye = errors.New("goodbye")

// Lost ends the origin and tells the job why, and the origin if it is to blame.
func (o *origin) Lost(err error) {
	o.s.forget(o)
	o.c = nil // a direct write may still use it
	if o.bye.Load() || o.s.closing.Load() {
		return
	}
	reason := err.Error()
	if errors.Is(err, io.EOF) {
		reason = "it has closed the connection"
	}
	if errors.Is(err, errProtocol) {
		o.post(&header{kind: kindLost, rank: uint32(o.from)}, []byte(reason[:min(len(reason), maxText)]))
	}
	o.s.t.tellLoss(o.from, fmt.Sprintf("rank %d (host %s): connection lost: %s", o.from,
		o.s.t.opt.hostOf(o.s.t.opt.nodeOf(o.from)), reason))
}
