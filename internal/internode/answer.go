// SPDX-License-Identifier: BSD-3-Clause

// The receiving side of an origin: answers of a node's data server. The poller's owner completes
// the requests of all threads. Data goes straight to where it belongs.
package internode

import (
	"errors"
	"fmt"
	"io"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// answerReceiver receives the frames of a target over one link. The poller's owner calls it.
type answerReceiver struct {
	target        *target
	link          *link
	earlierFrames uint32 // frames that were sent over earlier connections, lower bits
	h             header
	request       *request // the claimed request that the frame answers; nil: none
	dropped       bool     // the frame came after the target was given up
	body          []byte   // of a frame that is not data
	message       message
	placed        transport.Placed // where the body of a message goes; nil: into message
	// at most so many frames ago a long message was placed: another one is likely
	placedLately int
	dest         kernel.Cursor
}

// ExpectsBulk reports whether much data is on its way.
func (a *answerReceiver) ExpectsBulk() bool {
	return a.target.requests.largeOpen.Load() > 0 || a.placedLately > 0
}

// Finished tells whether the target is lost, has said goodbye, or has acknowledged the release of
// this connection.
func (a *answerReceiver) Finished() bool {
	return a.link.state.Load() == linkReleased || a.target.loss.goodbye.Load() ||
		a.target.loss.failure.Load() != nil
}

// BeginFrame parses the header of a frame with a body of n bytes, claims the request that it
// answers, and returns where the body is to be stored. A frame on a released connection, or of a
// lost target, is dropped.
func (a *answerReceiver) BeginFrame(head []byte, n int64) (transport.Body, error) {
	rest, err := a.h.decode(head)
	h, g := &a.h, a.target
	if err != nil || len(rest) > 0 && h.kind != kindMessage || n != int64(h.bytes) ||
		n > maxPayload {
		return transport.Body{},
			fmt.Errorf("%w: an answer with a head of %d and %d of %d bytes",
				errProtocol, len(head), n, h.bytes)
	}
	g.progress.heardFrom.Store(true)
	if g.t.direct != nil {
		g.progress.server.MarkAwake()
	}
	a.request, a.body = nil, nil
	if a.dropped = a.link.state.Load() == linkReleased; a.dropped {
		return transport.Body{}, nil
	}
	if g.link.Load() == a.link && a.link.poller.bytesInFlight.Load() != 0 {
		// not while the connection is being made, when a message may come
		a.link.poller.bytesInFlight.Store(0)
	}
	if h.id != 0 {
		a.request = g.requests.claim(h.id)
	}
	if a.dropped = g.loss.failure.Load() != nil; a.dropped {
		// the connection stays until this process's goodbye has left
		a.abandonRequest()
		return transport.Body{}, nil
	}
	if err = a.prepareBody(rest, n); err != nil || n == 0 {
		return transport.Body{}, err
	}
	if h.kind == kindData {
		return transport.Body{Into: &a.request.dest.cursor}, nil
	}
	a.dest.SetContiguous(addressOf(a.body), n)
	return transport.Body{Into: &a.dest}, nil
}

// prepareBody checks that the frame is one that was asked for, and finds memory for its body. rest
// is the beginning of a message, from the head.
func (a *answerReceiver) prepareBody(rest []byte, n int64) (err error) {
	h, r := &a.h, a.request
	bad := (r != nil) != (h.id != 0) || r != nil && h.kind != r.wantKind &&
		h.kind != kindRefused
	switch h.kind {
	case kindAck, kindGoodbye, kindReleaseRequest, kindReleaseAck:
		bad = bad || r != nil || n > 0
	case kindPushed, kindOld:
		bad = bad || r == nil || n > 0
	case kindData:
		if bad = bad || r == nil || n == 0 || n > r.dest.bytesDue; !bad {
			r.dest.bytesDue -= n
		}
	case kindReply:
		if bad = bad || r == nil; !bad {
			a.body, err = r.nextPart(h, n, false)
		}
	case kindRefused, kindLost:
		if bad = bad || n > maxText; !bad {
			a.body = make([]byte, n)
		}
	case kindMessage:
		if bad = bad || r != nil || transport.Rank(h.rank) != a.target.t.opt.Me; !bad {
			a.body, err = a.messageBody(rest, n)
		}
	default:
		bad = true
	}
	if bad {
		return fmt.Errorf("%w: an answer of kind %d with %d bytes that was not asked for",
			errProtocol, h.kind, n)
	}
	return err
}

// messageBody returns where the next n bytes of a message go, of which rest is the beginning. The
// job may have a place for a message that comes in one frame.
func (a *answerReceiver) messageBody(rest []byte, n int64) ([]byte, error) {
	h, t := &a.h, a.target.t
	a.placedLately = max(a.placedLately-1, 0)
	if a.placed = nil; t.opt.PlaceBody != nil && n > 0 && a.message.received == 0 &&
		h.addr == 0 && h.arg == uint64(len(rest))+uint64(n) {
		if a.placed = t.opt.PlaceBody(a.target.serverRank,
			transport.Msg{Kind: h.what, Head: rest},
			int(n)); a.placed != nil {
			if n >= smallTransfer {
				a.placedLately = 2
			}
			return a.placed.Memory(), nil
		}
	}
	body, err := a.message.nextPart(h, int64(len(rest))+n, true)
	if err != nil {
		return nil, err
	}
	return body[copy(body, rest):], nil
}

// Data is called for bodies that are dropped: each other body has memory.
func (a *answerReceiver) Data([]byte) error {
	if a.dropped {
		return nil
	}
	return errProtocol
}

// Sent is never called at the origin.
func (a *answerReceiver) Sent() {}

// EndFrame acts on a complete frame. The server's progress is updated after a refusal is recorded,
// so that a fence that sees the progress finds the refusal.
func (a *answerReceiver) EndFrame() error {
	h, g, r := &a.h, a.target, a.request
	if a.dropped {
		return nil
	}
	var err error
	switch h.kind {
	case kindOld:
		r.oldValue = int64(h.arg)
		if h.flags&flagDevice != 0 {
			r.deviceRange = transport.Range{Lo: uintptr(h.addr), Hi: uintptr(h.arg),
				Direct: true}
		}
	case kindData:
		if h.flags&flagMore != 0 {
			a.request = nil
			g.progress.updateHandled(h.handled + a.earlierFrames)
			r.expectMore()
			return nil
		}
		if r.open.Load() == 1 && r.dest.bytesDue > 0 && r.err.Load() == nil {
			return fmt.Errorf("%w: %d bytes of data are missing", errProtocol,
				r.dest.bytesDue)
		}
	case kindReply:
		if !r.isComplete() {
			a.request = nil
			g.progress.updateHandled(h.handled + a.earlierFrames)
			r.expectMore()
			return nil
		}
	case kindRefused:
		err = a.refusalError()
	case kindMessage:
		if a.placed != nil {
			a.placed.Arrived()
			a.placed = nil
		} else if a.message.isComplete() {
			a.message.dispatch(g.t, g.serverRank, g.t.opt.Me, h.what, nil)
		}
	case kindLost:
		g.t.reportLoss(transport.Rank(h.rank), string(a.body))
	case kindGoodbye:
		g.loss.goodbye.Store(true)
	case kindReleaseRequest:
		g.t.thread.requestRelease(a.link)
	}
	a.request, a.body = nil, nil
	if h.kind == kindRefused && r == nil { // the next fence returns the first one
		first := err // a copy: err itself would always be allocated
		g.loss.refusal.CompareAndSwap(nil, &first)
	}
	// behind the refusal: a fence that sees the progress finds it
	g.progress.updateHandled(h.handled + a.earlierFrames)
	if h.kind == kindReleaseAck && !a.link.state.CompareAndSwap(linkReleasing, linkReleased) {
		return fmt.Errorf("%w: the node parts from a process that does not", errProtocol)
	}
	if r != nil {
		r.finishClaimed(err)
	}
	return nil
}

// abandonRequest ends the claimed request, if any, because the target is lost.
func (a *answerReceiver) abandonRequest() {
	if r := a.request; r != nil {
		a.request = nil
		r.finishClaimed(a.target.loss.err())
	}
}

// refusalError returns the error of a kindRefused frame.
func (a *answerReceiver) refusalError() error {
	h := &a.h
	if a.request != nil {
		a.request.dest.bytesDue -= min(int64(h.arg), a.request.dest.bytesDue)
	}
	if h.what == whyAddress {
		return fmt.Errorf("%w: %d bytes at %#x of rank %d", transport.ErrBadAddr, h.arg,
			h.addr, h.rank)
	}
	return fmt.Errorf("refused: %s", a.body)
}

// Lost marks the target as lost, unless the connection was released.
func (a *answerReceiver) Lost(err error) {
	if a.link.state.Load() == linkReleased {
		return
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the connection was closed")
	}
	a.target.markLost(err)
	a.abandonRequest()
}

// finishAnswers polls until no request is claimed, so that the fabric writes to no memory later.
// The connection of a slow peer is broken after goodbyeTimeout.
func (s *routes) finishAnswers() {
	for begin, more := time.Now(), true; more; {
		late := time.Since(begin) > goodbyeTimeout
		more = false
		for _, g := range s.targets {
			l := g.link.Load()
			if l == nil || g.requests.claimed.Load() == 0 {
				continue
			}
			more = true
			if late {
				l.ep.Break()
			}
			l.poller.pollOnce()
		}
		if more {
			time.Sleep(20 * time.Microsecond)
		}
	}
}
