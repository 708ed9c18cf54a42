// SPDX-License-Identifier: BSD-3-Clause

// What a data server keeps for one origin: how far it has come, the frame in progress, and the
// sending of answers. Frames come one after the other, from one thread at a time. Handlers reply
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

// origin is a process of another node that has connected to this data server. It implements
// transport.Receiver: the fabric calls BeginFrame, Data, EndFrame, Sent and Lost from one thread at
// a time.
type origin struct {
	server  *server
	rank    transport.Rank
	ep      transport.TargetEndpoint
	direct  transport.DirectWriter // ep, if that is one; else nil
	maxBody int                    // bytes of a frame behind its header, at most

	handledFrames atomic.Uint32 // frames that have taken effect
	state         originState   // postMu is held to set originReleased

	// guards changes of state; held while the frames of a message are posted: none follows the
	// acknowledgement of a release
	postMu sync.Mutex

	// Of the thread that receives.
	ackedFrames uint32        // the last value of handledFrames that the origin was sent
	ackWanted   bool          // the origin waits for an acknowledgement
	frame       *frameContext // the frame in progress; nil: none, or its answer is complete
	message     message       // a message of which some frames have come
	headBuf     []byte
	piece       pieceState
}

// originState is whether frames may still travel over an origin's connection.
type originState struct{ atomic.Int32 }

// Values of an originState.
const (
	originConnected = iota // frames and messages travel both ways
	originLeft             // the origin has said goodbye: the end of the connection is no loss
	// the origin has released the connection and was told so: messages to it take other ways
	originReleased
)

// hasLeft reports whether the end of the connection is no loss.
func (s *originState) hasLeft() bool { return s.Load() != originConnected }

// released reports whether the origin has released the connection.
func (s *originState) released() bool { return s.Load() == originReleased }

// pieceState is where the answer to a get of far memory stands (far.go).
type pieceState uint8

const (
	pieceIdle    pieceState = iota // no piece is being given to the endpoint
	pieceSending                   // sendPieces is inside the endpoint's Send
	pieceSent                      // the piece has left before Send returned
)

// frameContext is what it takes to serve one frame. Its memory is bounded and does not depend on
// what the origin asks for.
type frameContext struct {
	h         header
	localRank int // number on this node of the rank that owns the memory
	layout    layout
	memory    kernel.Cursor // in the memory that is stored to or sent from
	acc       accumulateState
	compare   uint64 // of a compare-and-swap of a word
	mover     memoryMover

	notOwned bool  // the memory is not the rank's: the request is refused
	far      bool  // the memory is private to another process of this node
	storeErr error // the first error of storing the data

	originDesc   []byte // a push: the header and descriptor of the origin's memory
	originLayout layout // originDesc, decoded
	dest         kernel.Cursor
	// data of a get from far memory, or what an accumulate fetches; nil: neither is under way
	piece   *piece
	farLeft int64 // bytes of that get that have not been sent
}

// contextPool has the frame contexts that no origin uses.
var contextPool = sync.Pool{New: func() any {
	return &frameContext{acc: accumulateState{operand: new([operandBytes]byte)}}
}}

// ExpectsBulk is for the origin's end only.
func (o *origin) ExpectsBulk() bool { return false }

// Finished tells whether the origin has said that no frame follows.
func (o *origin) Finished() bool { return o.state.hasLeft() }

// Sent ends the sending of a get's data, or of a piece of it, perhaps inside Send.
func (o *origin) Sent() {
	switch c := o.frame; {
	case c == nil || c.farLeft == 0:
		o.freeContext()
	case o.piece == pieceSending:
		o.piece = pieceSent
	default:
		o.sendPieces()
	}
}

// freeContext ends the frame in progress.
func (o *origin) freeContext() {
	if c := o.frame; c != nil {
		o.frame = nil
		if c.piece != nil {
			piecePool.Put(c.piece)
			c.piece, c.farLeft = nil, 0
		}
		contextPool.Put(c)
	}
}

// sendAnswer sends an answer with n bytes from the context's cursor. It carries how far the server
// has come. If sending fails the connection is lost: the fabric calls Lost after all that has come
// before, which may be a goodbye. Only the receiving thread calls it.
func (o *origin) sendAnswer(h *header, n int64) {
	var body *kernel.Cursor
	if n > 0 {
		body = &o.frame.memory
	}
	o.sendAnswerFrom(h, body, n)
}

// sendAnswerFrom is sendAnswer with data from any cursor.
func (o *origin) sendAnswerFrom(h *header, body *kernel.Cursor, n int64) {
	o.server.incoming.guard.recordNeed()
	h.handled = o.handledFrames.Load()
	h.bytes = uint64(n)
	o.ackedFrames, o.ackWanted = h.handled, false
	o.headBuf = h.append(o.headBuf[:0])
	_, err := o.ep.Send(o.headBuf, body, n, transport.Now)
	if n == 0 || err != nil {
		o.freeContext()
	}
}

// postAnswer sends an answer from any thread. The endpoint keeps body.
func (o *origin) postAnswer(h *header, body []byte) { o.postAnswerWithHead(h, nil, body) }

// postAnswerWithHead is postAnswer with bytes behind the header.
func (o *origin) postAnswerWithHead(h *header, behind, body []byte) {
	h.handled = o.handledFrames.Load()
	h.bytes = uint64(len(body))
	if !o.server.t.info.Copies {
		o.ep.Post(append(h.append(make([]byte, 0, headerBytes+len(behind))), behind...),
			body)
		return
	}
	b := postHeadPool.Get().(*[]byte)
	*b = append(h.append((*b)[:0]), behind...)
	o.ep.Post(*b, body)
	postHeadPool.Put(b)
}

// postHeadPool has buffers for the heads of frames, where the endpoint's Post copies them.
var postHeadPool = sync.Pool{New: func() any { return new([]byte) }}

// acknowledgeIfDue tells the origin how far the server has come, if it waits for that, or has used
// half of its credits, and no answer has told it.
func (o *origin) acknowledgeIfDue() {
	n := o.handledFrames.Load() - o.ackedFrames
	if n == 0 || !o.ackWanted && (o.server.t.info.Credits == 0 ||
		n < uint32(o.server.t.info.Credits)/2) {
		return
	}
	o.sendAnswer(&header{kind: kindAck}, 0)
}

// postReply answers a call, from any thread, in several frames where these are bounded.
func (o *origin) postReply(id uint64, body []byte) {
	if len(body) > maxMessage {
		why := fmt.Sprintf("the reply has %d bytes, %d at most are possible", len(body),
			maxMessage)
		o.postAnswer(&header{kind: kindRefused, what: whyInvalid, id: id}, []byte(why))
		return
	}
	for at := 0; ; {
		n := min(len(body)-at, o.maxBody)
		o.postAnswer(&header{kind: kindReply, id: id, addr: uint64(at),
			arg: uint64(len(body))},
			body[at:at+n])
		if at += n; at == len(body) {
			return
		}
	}
}

// postMessage sends the origin's process a message, in several frames where these are bounded. Its
// head travels in the head of the first one. It returns false if the origin has released this
// connection. It locks postMu.
func (o *origin) postMessage(m transport.Msg) bool {
	o.postMu.Lock()
	defer o.postMu.Unlock()
	if o.state.released() {
		return false
	}
	body := m.Body
	if !o.server.t.info.Copies {
		body = bytes.Clone(body)
	}
	h := header{kind: kindMessage, what: m.Kind, rank: uint32(o.rank),
		arg: uint64(len(m.Head) + len(body))}
	for first := m.Head; ; first = nil {
		n := min(len(body), o.maxBody-len(first))
		o.postAnswerWithHead(&h, first, body[:n])
		h.addr += uint64(len(first) + n)
		if body = body[n:]; len(body) == 0 {
			return true
		}
	}
}

// acknowledgeRelease ends the use of a connection that its origin releases. What was posted before
// comes before kindReleaseAck. It locks postMu.
func (o *origin) acknowledgeRelease() {
	o.postMu.Lock()
	defer o.postMu.Unlock()
	o.state.Store(originReleased)
	o.server.origins.CompareAndDelete(o.rank, o)
	o.ackedFrames, o.ackWanted = o.handledFrames.Load(), false
	o.postAnswer(&header{kind: kindReleaseAck}, nil)
}

// errGoodbye ends the connection of an origin that has said that no frame follows.
var errGoodbye = errors.New("goodbye")

// Lost ends the origin. The job learns why unless the origin has left; the origin learns it if it
// has violated the wire format.
func (o *origin) Lost(err error) {
	o.server.origins.CompareAndDelete(o.rank, o)
	o.server.limit.removeConn(o)
	o.frame = nil // not put back into contextPool: a direct write may still use it
	if o.server.closing.Load() || o.state.hasLeft() && !errors.Is(err, errProtocol) {
		return
	}
	reason := err.Error()
	if errors.Is(err, io.EOF) {
		reason = "it has closed the connection"
	}
	if errors.Is(err, errProtocol) {
		o.postAnswer(&header{kind: kindLost, rank: uint32(o.rank)},
			[]byte(reason[:min(len(reason), maxText)]))
	}
	o.server.t.reportLoss(o.rank, o.server.t.opt.connectionLost(o.rank, reason))
}

// postRefusal tells the origin, from any thread, that a request was not carried out, for nbytes
// bytes.
func (o *origin) postRefusal(h *header, nbytes int64, why uint8, text string) {
	o.postAnswer(&header{kind: kindRefused, what: why, rank: h.rank, id: h.id, addr: h.addr,
		arg: uint64(nbytes)},
		[]byte(text[:min(len(text), maxText)]))
}
