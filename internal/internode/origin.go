// SPDX-License-Identifier: BSD-3-Clause

// What a data server keeps for one origin: how far it has come, the frame in progress, and the
// sending of answers. Frames come one after the other, from one thread at a time; handlers reply
// from any thread.
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
	s       *server
	from    transport.Rank
	ep      transport.TargetEndpoint
	direct  transport.DirectWriter // ep, if it is one
	payload int                    // most bytes of a frame behind its header

	handled atomic.Uint32 // frames that have taken effect
	bye     atomic.Bool   // the origin has said goodbye
	telling sync.Mutex    // held while the parts of a message are posted
	parted  bool          // nothing is told over this connection any more; under telling

	// Of the thread that receives.
	told    uint32 // so many of the frames the origin knows of
	urgent  bool   // it waits to be told
	c       *context
	message message // of which some parts have come
	head    []byte
	sending bool // a piece is being sent,
	free    bool // and its memory may be used again
}

// context is what it takes to serve one frame. Its memory is bounded and does not depend on what
// the origin asks for.
type context struct {
	h       header
	local   int // number of the rank whose memory it is
	layout  layout
	at      kernel.Cursor // in the memory that is stored to or sent from
	scale   *[scaleBytes]byte
	compare uint64 // of a compare-and-swap
	adder   adder
	bad     bool   // the memory is not the rank's
	far     bool   // it is private to another process
	failed  error  // what went wrong with storing the data
	there   []byte // a push: the header and descriptor of the origin's memory
	other   layout // that, decoded
	to      kernel.Cursor
	piece   *piece // of a get from far memory; nil: none is under way
	left    int64  // bytes that have not been sent of it
}

// contexts are used again.
var contexts = sync.Pool{New: func() any { return &context{scale: new([scaleBytes]byte)} }}

// Expects is for origins only.
func (o *origin) Expects() bool { return false }

// Sent ends the sending of a get's data, or of a piece of it.
func (o *origin) Sent() {
	switch c := o.c; {
	case c == nil || c.left == 0:
		o.drop()
	case o.sending:
		o.free = true
	default:
		o.sendPieces()
	}
}

// drop gives the context back.
func (o *origin) drop() {
	if c := o.c; c != nil {
		o.c = nil
		if c.piece != nil {
			pieces.Put(c.piece)
			c.piece, c.left = nil, 0
		}
		contexts.Put(c)
	}
}

// answer sends an answer with n bytes from the context's cursor; it tells the origin how far the
// server has come. Where it fails the connection is lost: Lost says so, after what has come before,
// which may be a goodbye.
func (o *origin) answer(h *header, n int64) {
	var body *kernel.Cursor
	if n > 0 {
		body = &o.c.at
	}
	o.answerFrom(h, body, n)
}

// answerFrom is answer with data from any cursor.
func (o *origin) answerFrom(h *header, body *kernel.Cursor, n int64) {
	o.s.incoming.guard.note()
	h.handled = o.handled.Load()
	h.bytes = uint64(n)
	o.told, o.urgent = h.handled, false
	o.head = h.append(o.head[:0])
	_, err := o.ep.Send(o.head, body, n, transport.Now)
	if n == 0 || err != nil {
		o.drop()
	}
}

// post sends an answer from any thread, and keeps body.
func (o *origin) post(h *header, body []byte) { o.postHead(h, nil, body) }

// postHead is post with something behind the header.
func (o *origin) postHead(h *header, behind, body []byte) {
	h.handled = o.handled.Load()
	h.bytes = uint64(len(body))
	if !o.s.t.info.Copies {
		o.ep.Post(append(h.append(make([]byte, 0, headerBytes+len(behind))), behind...),
			body)
		return
	}
	b := postHeads.Get().(*[]byte)
	*b = append(h.append((*b)[:0]), behind...)
	o.ep.Post(*b, body)
	postHeads.Put(b)
}

// postHeads are buffers for the headers of frames, where Post copies what it is given.
var postHeads = sync.Pool{New: func() any { return new([]byte) }}

// acknowledge tells the origin how far the server has come, where it needs to know and no answer
// has told it.
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
		why := fmt.Sprintf("the reply has %d bytes, %d at most are possible", len(body),
			maxMessage)
		o.post(&header{kind: kindRefused, what: whySense, id: id}, []byte(why))
		return
	}
	for at := 0; ; {
		n := min(len(body)-at, o.payload)
		o.post(&header{kind: kindReply, id: id, addr: uint64(at), arg: uint64(len(body))},
			body[at:at+n])
		if at += n; at == len(body) {
			return
		}
	}
}

// tell sends the origin's process a message, in parts where frames are bounded. The beginning of
// the message travels in the head of the first one. false: the origin has given this connection
// back.
func (o *origin) tell(m transport.Msg) bool {
	o.telling.Lock()
	defer o.telling.Unlock()
	if o.parted {
		return false
	}
	body := m.Body
	if !o.s.t.info.Copies {
		body = bytes.Clone(body)
	}
	h := header{kind: kindTell, what: m.Kind, rank: uint32(o.from),
		arg: uint64(len(m.Head) + len(body))}
	for first := m.Head; ; first = nil {
		n := min(len(body), o.payload-len(first))
		o.postHead(&h, first, body[:n])
		h.addr += uint64(len(first) + n)
		if body = body[n:]; len(body) == 0 {
			return true
		}
	}
}

// part ends the use of a connection that its origin gives back. What was posted for it before comes
// before kindParted.
func (o *origin) part() {
	o.telling.Lock()
	defer o.telling.Unlock()
	o.parted = true
	o.bye.Store(true)
	o.s.origins.CompareAndDelete(o.from, o)
	o.told, o.urgent = o.handled.Load(), false
	o.post(&header{kind: kindParted}, nil)
}

// errGoodbye ends the connection of an origin that has said that nothing follows.
var errGoodbye = errors.New("goodbye")

// Lost ends the origin and tells the job why, and the origin if it is to blame.
func (o *origin) Lost(err error) {
	o.s.origins.CompareAndDelete(o.from, o)
	o.s.bound.leave(o)
	o.c = nil // a direct write may still use it
	if o.s.closing.Load() || o.bye.Load() && !errors.Is(err, errProtocol) {
		return
	}
	reason := err.Error()
	if errors.Is(err, io.EOF) {
		reason = "it has closed the connection"
	}
	if errors.Is(err, errProtocol) {
		o.post(&header{kind: kindLost, rank: uint32(o.from)},
			[]byte(reason[:min(len(reason), maxText)]))
	}
	o.s.t.lost(o.from, reason)
}

// refuse tells the origin, from any thread, that a request was not carried out.
func (o *origin) refuse(h *header, nbytes int64, why uint8, text string) {
	o.post(&header{kind: kindRefused, what: why, rank: h.rank, id: h.id, addr: h.addr,
		arg: uint64(nbytes)},
		[]byte(text[:min(len(text), maxText)]))
}
