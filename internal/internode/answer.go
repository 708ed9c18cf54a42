// SPDX-License-Identifier: BSD-3-Clause

// The receiving side of an origin: answers of a node's data server. The poller's owner completes
// whatever comes, others' requests too. Data goes straight to where it belongs.
package internode

import (
	"errors"
	"fmt"
	"io"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// answer is the frame that is coming from a target.
type answer struct {
	g    *target
	l    *link
	base uint32 // frames that were sent over earlier connections, lower bits
	h    header
	r    *request // that it answers; nil if none
	late bool     // it comes after the target was given up, and is dropped
	body []byte   // of what is no data
	tell message
	here transport.Placed // where the message that is coming belongs; nil: in tell
	// so many frames ago at most there was a long message that was placed: another one is
	// likely
	long int
	into kernel.Cursor
}

// Expects tells whether much data is on its way.
func (a *answer) Expects() bool { return a.g.table.large.Load() > 0 || a.long > 0 }

// Head checks a header and says where the body goes.
func (a *answer) Head(head []byte, n int64) (transport.Body, error) {
	rest, err := a.h.decode(head)
	h, g := &a.h, a.g
	if err != nil || len(rest) > 0 && h.kind != kindTell || n != int64(h.bytes) ||
		n > maxPayload {
		return transport.Body{},
			fmt.Errorf("%w: an answer with a head of %d and %d of %d bytes",
				errProtocol, len(head), n, h.bytes)
	}
	g.heard.Store(true)
	if g.t.direct != nil {
		g.serves.Heard()
	}
	a.r, a.body = nil, nil
	if a.late = a.l.state.Load() == parted; a.late {
		return transport.Body{}, nil
	}
	if g.link.Load() == a.l && a.l.poller.afloat.Load() != 0 {
		// a message may come while the connection is being made
		a.l.poller.afloat.Store(0)
	}
	if h.id != 0 {
		a.r = g.take(h.id)
	}
	if a.late = g.broken.Load() != nil; a.late {
		// the connection stays until the goodbye has left
		a.abandon()
		return transport.Body{}, nil
	}
	if err = a.prepare(rest, n); err != nil || n == 0 {
		return transport.Body{}, err
	}
	if h.kind == kindData {
		return transport.Body{Into: &a.r.into}, nil
	}
	a.into.SetContiguous(addressOf(a.body), n)
	return transport.Body{Into: &a.into}, nil
}

// prepare finds out whether the body may come, and makes room for it. rest is the beginning of a
// message.
func (a *answer) prepare(rest []byte, n int64) (err error) {
	h, r := &a.h, a.r
	bad := (r != nil) != (h.id != 0) || r != nil && h.kind != r.want && h.kind != kindRefused
	switch h.kind {
	case kindAck, kindBye, kindRelease, kindParted:
		bad = bad || r != nil || n > 0
	case kindPushed, kindOld:
		bad = bad || r == nil || n > 0
	case kindData:
		if bad = bad || r == nil || n == 0 || n > r.room; !bad {
			r.room -= n
		}
	case kindReply:
		if bad = bad || r == nil; !bad {
			a.body, err = r.part(h, n, false)
		}
	case kindRefused, kindLost:
		if bad = bad || n > maxText; !bad {
			a.body = make([]byte, n)
		}
	case kindTell:
		if bad = bad || r != nil || transport.Rank(h.rank) != a.g.t.opt.Me; !bad {
			a.body, err = a.room(rest, n)
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

// room is where the next n bytes of a message go, of which rest is the beginning.
func (a *answer) room(rest []byte, n int64) ([]byte, error) {
	h, t := &a.h, a.g.t
	a.long = max(a.long-1, 0)
	if a.here = nil; t.opt.Place != nil && n > 0 && a.tell.got == 0 && h.addr == 0 &&
		h.arg == uint64(len(rest))+uint64(n) {
		if a.here = t.opt.Place(a.g.server, transport.Msg{Kind: h.what, Head: rest},
			int(n)); a.here != nil {
			if n >= smallTransfer {
				a.long = 2
			}
			return a.here.Memory(), nil
		}
	}
	body, err := a.tell.part(h, int64(len(rest))+n, true)
	if err != nil {
		return nil, err
	}
	return body[copy(body, rest):], nil
}

// Data is called for bodies that are dropped: every other body has a place.
func (a *answer) Data([]byte) error {
	if a.late {
		return nil
	}
	return errProtocol
}

// Sent is never called at the origin.
func (a *answer) Sent() {}

// End does what a complete answer says.
func (a *answer) End() error {
	h, g, r := &a.h, a.g, a.r
	if a.late {
		return nil
	}
	var err error
	switch h.kind {
	case kindOld:
		r.old = int64(h.arg)
		if h.flags&flagDevice != 0 {
			r.device = transport.Range{Lo: uintptr(h.addr), Hi: uintptr(h.arg),
				Direct: true}
		}
	case kindData:
		if h.flags&flagMore != 0 {
			a.r = nil
			g.caughtUp(h.handled + a.base)
			r.giveBack()
			return nil
		}
		if r.open.Load() == 1 && r.room > 0 && r.err.Load() == nil {
			return fmt.Errorf("%w: %d bytes of data are missing", errProtocol, r.room)
		}
	case kindReply:
		if !r.whole() {
			a.r = nil
			g.caughtUp(h.handled + a.base)
			r.giveBack()
			return nil
		}
	case kindRefused:
		err = a.refusal()
	case kindTell:
		if a.here != nil {
			a.here.Arrived()
			a.here = nil
		} else if a.tell.whole() {
			a.tell.handle(g.t, g.server, g.t.opt.Me, h.what, nil)
		}
	case kindLost:
		g.t.tellLoss(transport.Rank(h.rank), string(a.body))
	case kindBye:
		g.bye.Store(true)
	case kindRelease:
		g.t.thread.release(a.l)
	}
	a.r, a.body = nil, nil
	if h.kind == kindRefused && r == nil { // the next fence tells; the first refusal stays
		first := err // a copy: err itself would always be allocated
		g.refused.CompareAndSwap(nil, &first)
	}
	g.caughtUp(h.handled + a.base) // after what there may be to tell
	if h.kind == kindParted && !a.l.state.CompareAndSwap(parting, parted) {
		return fmt.Errorf("%w: the node parts from a process that does not", errProtocol)
	}
	if r != nil {
		r.taken(err)
	}
	return nil
}

// abandon ends the request whose answer does not come to its end, because the target is lost.
func (a *answer) abandon() {
	if r := a.r; r != nil {
		a.r = nil
		r.taken(a.g.lost())
	}
}

// refusal is what the node says against a request.
func (a *answer) refusal() error {
	h := &a.h
	if a.r != nil {
		a.r.room -= min(int64(h.arg), a.r.room)
	}
	if h.what == whyAddress {
		return fmt.Errorf("%w: %d bytes at %#x of rank %d", transport.ErrBadAddr, h.arg,
			h.addr, h.rank)
	}
	return fmt.Errorf("refused: %s", a.body)
}

// Lost ends the target, unless the connection has been given back.
func (a *answer) Lost(err error) {
	if a.l.state.Load() == parted {
		return
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the connection was closed")
	}
	a.g.fail(err)
	a.abandon()
}

// finishAnswers reads what has begun to come, so that no memory is written to later. A slow peer is
// not waited for.
func (t *Transport) finishAnswers() {
	for begin, more := time.Now(), true; more; {
		late := time.Since(begin) > goodbyeTime
		more = false
		for _, g := range t.targets {
			l := g.link.Load()
			if l == nil || g.table.held.Load() == 0 {
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
