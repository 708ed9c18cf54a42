// SPDX-License-Identifier: BSD-3-Clause

// Serving one connection without ever waiting: take what has arrived, act, send what fits, and say what is missing.
// The same code runs in the event loop and in the goroutines that go on with large transfers: all state of a
// connection that is in the middle of something is in its work, which is handed over as it is.
package tcp

import (
	"errors"
	"io"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// status says why a step of work has ended.
type status uint8

const (
	idle    status = iota // between frames, everything sent: nothing is kept
	starved               // in the middle of a frame: more must arrive
	choked                // replies do not fit: the client must read, or another is writing
	busy                  // there is more to do at once
	ended                 // the connection is over: work.err
)

// Sizes of buffers.
const (
	inBytes   = 64 << 10
	outBytes  = 64 << 10
	peekBytes = 16 << 10 // taken at first: of a large put only this much is copied twice
	headDesc  = 64       // of usual descriptors
	packBytes = 16 << 10 // larger replies of long rows are sent from where they are
	replyRoom = headerBytes + 8 + maxText
	iovCount  = 256
)

// work is what it takes to serve a connection. Its memory is bounded and independent of what the client asks for,
// except for the body of one message.
type work struct {
	s *server
	c *conn

	in    []byte // in[r:w] has arrived and is not yet dealt with
	r, w  int
	out   []byte // replies; sent up to o
	o     int
	vec   []unix.Iovec // what is being sent instead, parts of out included
	holds bool         // c.send

	head   header // of the frame in progress
	phase  phase
	area   area         // what it stores to or sends from
	rec    []unix.Iovec // memory that is being received into; behind the area's cursor
	skip   int64        // bytes to throw away
	body   []byte       // of a message
	long   bool         // rows are long enough not to be packed
	err    error
	brief  bool   // only small requests that have arrived whole (brief.go)
	broke  bool   // err is a violation of the protocol
	status status // what the last run ended with
	local  int    // number of the rank whose memory it is
	budget int    // bytes that may be moved before others must be looked at

	iov   [iovCount]unix.Iovec
	shape shape // of the request
	part  shape // of a part
	list  *list
	adder adder
	scale *[scaleBytes]byte // memory of its own, because C is shown where it is
	rmw   transport.RMW
}

type phase uint8

const (
	atHead   phase = iota // between frames
	storing               // put, accumulate or message: data goes through the area
	skipping              // data of a refused request
	sending               // get: data comes through the area
)

// workBytes is what a work holds, nearly.
const workBytes = inBytes + outBytes + (8+8+24)*maxSegments + 8<<10

func newWork(s *server) *work {
	return &work{s: s, in: make([]byte, inBytes), out: make([]byte, 0, outBytes), list: newList(),
		scale: new([scaleBytes]byte)}
}

// run goes on with the connection until it must wait, or has moved about budget bytes.
func (w *work) run(budget int) status {
	w.budget = budget
	for w.budget > 0 {
		if w.phase == sending && !w.sendMore() || !w.parse() {
			return w.stuck()
		}
		if w.phase == sending {
			continue
		}
		if !w.flush() {
			return w.stuck()
		}
		n, err := w.receiveSoon(w.budget < budget)
		if err != nil {
			return w.noInput(err)
		}
		w.budget -= n
	}
	return busy
}

// stuck is the status after an attempt to send or to parse.
func (w *work) stuck() status {
	switch {
	case w.err != nil:
		return ended
	case w.budget <= 0:
		return busy
	}
	return choked
}

func (w *work) noInput(err error) status {
	switch {
	case !errors.Is(err, unix.EAGAIN):
		w.err = err
		return ended
	case w.phase == atHead && w.r == w.w:
		return idle
	}
	return starved
}

// fail ends the connection of a client that does not keep to the protocol.
func (w *work) fail(err error) bool {
	w.err, w.broke = err, true
	return false
}

// parse deals with what is in the buffer, as far as it goes. False: replies do not fit, or the connection is over.
func (w *work) parse() bool {
	for {
		switch w.phase {
		case storing:
			if !w.store() {
				return w.err == nil
			}
		case skipping:
			n := min(w.skip, int64(w.w-w.r))
			w.r, w.skip = w.r+int(n), w.skip-n
			if w.skip > 0 {
				return true
			}
			w.phase = atHead
		case sending:
			return true
		}
		if outBytes-len(w.out) < replyRoom && !w.flush() {
			return false
		}
		if w.w-w.r < headerBytes {
			return true
		}
		w.head.decode(w.in[w.r:])
		if w.w-w.r < headerBytes+int(w.head.Desc) && w.head.Desc <= maxDesc {
			return true
		}
		if err := w.head.check(); err != nil {
			return w.fail(err)
		}
		if w.brief && !w.whole() {
			return true
		}
		desc := w.in[w.r+headerBytes : w.r+headerBytes+int(w.head.Desc)]
		w.r += headerBytes + int(w.head.Desc)
		if err := w.begin(desc); err != nil {
			return w.fail(err)
		}
		w.expectMore()
	}
}

// store moves what is in the buffer to the area; true when the frame is complete.
func (w *work) store() bool {
	grain := 1
	if w.head.Kind == kindAcc {
		grain = kernel.TypeSize(w.head.elem())
	}
	for w.area.left > 0 && len(w.rec) == 0 {
		p := w.area.next(w.w-w.r, grain, &w.part)
		if p.nbytes == 0 {
			return false
		}
		b := w.in[w.r : w.r+p.nbytes]
		w.r += p.nbytes
		if w.head.Kind != kindAcc {
			p.scatter(b)
			continue
		}
		s := transport.Scale{Type: int(w.head.elem()), Value: unsafe.Pointer(w.scale)}
		if err := w.adder.add(w.s.opt.Memory, transport.Peer(w.local), &p, b, s); err != nil {
			return w.fail(err)
		}
	}
	if len(w.rec) > 0 {
		return false
	}
	w.phase = atHead
	w.complete()
	return true
}

// flush sends the replies; false if not all could be sent. Then w holds the right to write, or waits for it.
func (w *work) flush() bool {
	if w.o == len(w.out) && len(w.vec) == 0 {
		return true
	}
	if !w.holds {
		if !w.c.send.TryLock() {
			return false
		}
		w.holds = true
	}
	for len(w.vec) > 0 {
		n, err := sendPieces(w.c.fd, w.vec)
		if err != nil {
			return w.sendFailed(err)
		}
		w.vec = skip(w.vec, n)
	}
	w.c.mute.Store(false)
	for w.o < len(w.out) {
		n, err := sendNow(w.c.fd, w.out[w.o:])
		if err != nil {
			return w.sendFailed(err)
		}
		w.o += n
	}
	w.out, w.o = w.out[:0], 0
	if w.phase != sending || w.area.left == 0 {
		w.letGo()
	}
	return true
}

func (w *work) sendFailed(err error) bool {
	if !errors.Is(err, unix.EAGAIN) {
		w.err = err
	}
	return false
}

// letGo gives back the right to write, and sends what handlers have replied meanwhile.
func (w *work) letGo() {
	if w.holds {
		w.holds = false
		w.c.send.Unlock()
		w.c.push()
	}
}

// sendMore sends the data of a get; false if not all of it could be sent.
func (w *work) sendMore() bool {
	for w.area.left > 0 {
		if w.budget <= 0 {
			return false
		}
		before := w.area.left
		if !w.long {
			w.pack()
		} else if len(w.vec) == 0 {
			w.vec = w.piecesToSend()
		}
		w.budget -= int(before - w.area.left)
		if !w.flush() {
			return false
		}
	}
	if !w.flush() {
		return false
	}
	w.phase = atHead
	return true
}

// piecesToSend is the replies so far and memory of the area behind them.
func (w *work) piecesToSend() []unix.Iovec {
	vec := w.iov[:0]
	if w.o < len(w.out) {
		vec = append(vec, unix.Iovec{Base: &w.out[w.o], Len: uint64(len(w.out) - w.o)})
		w.o = len(w.out)
	}
	n := len(vec)
	return vec[:n+len(w.area.pieces(w.iov[n:n:iovCount], w.area.left))]
}

// pack fetches data behind the replies, as much as fits.
func (w *work) pack() {
	n := len(w.out)
	w.out = w.out[:n+int(min(w.area.left, int64(outBytes-n)))]
	w.area.gather(w.out[n:], &w.part)
}

// fresh makes the work ready for another connection.
func (w *work) fresh(c *conn) {
	if w.holds {
		w.holds = false
		w.c.send.Unlock()
	}
	w.c, w.r, w.w, w.o, w.out = c, 0, 0, 0, w.out[:0]
	w.vec, w.rec, w.body, w.phase, w.err, w.broke = nil, nil, nil, atHead, nil, false
}

// reason says in words why the connection is over.
func (w *work) reason() string {
	if errors.Is(w.err, io.EOF) {
		return "it has closed the connection"
	}
	return w.err.Error()
}
