// SPDX-License-Identifier: BSD-3-Clause

// The receiving side of a wire. Answers are read by whoever has the reader's role: a caller that waits for one, else the
// engine. He completes whatever comes, others' requests too. Data goes straight to where it belongs.
package tcp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"golang.org/x/sys/unix"
	"libarmci/internal/transport"
)

// replies is the state of receiving. All is used by the one who has the role.
type replies struct {
	role  sync.Mutex
	part  [headerBytes]byte         // of a header that has not come completely
	nhead int                       // bytes of it
	h     header                    // of the answer whose body is being received
	owner *pending                  // whose answer it is; nil if nobody's
	left  int64                     // bytes of the body to come
	big   bool                      // it is received straight to where it goes
	text  [errorDesc + maxText]byte // body of an error or a loss
	mail  []byte                    // body of a message
	sink  *area                     // where the body goes
	plain area                      // the sink of what is no data
	cut   shape                     // of a part of the body
	rec   []unix.Iovec              // memory that is being received into; behind the sink's cursor
	riov  [iovMost]unix.Iovec
	spare []byte // for want of a buffer: memory of its own, because C is shown it
	polls int    // how often it lately paid to look again
	rest  breath
}

// errorDesc is the length of an error's descriptor: the number of bytes that were not moved.
const errorDesc = 8

// iovMost is how many pieces are received at once.
const iovMost = 128

// spareBytes is room for a header and a little more.
const spareBytes = 512

// receive takes what is there and acts on it: false if nothing was. It never waits for a buffer, for others wait for
// what it reads.
func (w *wire) receive() (bool, error) {
	if w.left > 0 && w.big {
		return w.receiveBody()
	}
	buf := w.t.buffers.tryGet()
	if buf == nil {
		if w.spare == nil {
			w.spare = make([]byte, spareBytes)
		}
		return w.receiveIn(w.spare)
	}
	defer w.t.buffers.put(buf)
	return w.receiveIn(buf[:bufferBytes])
}

// receiveIn receives through a buffer.
func (w *wire) receiveIn(buf []byte) (bool, error) {
	have, most := copy(buf, w.part[:w.nhead]), len(buf)
	if w.left == 0 && w.table.big.Load() > 0 {
		most = headerBytes // so that data does not pass through the buffer
	}
	n, err := recvNow(w.fd, buf[have:most])
	if err == unix.EAGAIN {
		return false, nil
	}
	if err != nil {
		return false, w.ended(err)
	}
	w.nhead = 0
	return true, w.consume(buf[:have+n])
}

// receiveBody receives straight to where the body goes.
func (w *wire) receiveBody() (bool, error) {
	if len(w.rec) == 0 {
		w.rec = w.sink.pieces(w.riov[:0], w.left)
	}
	n, err := recvPieces(w.fd, w.rec)
	for tries := 1; err == unix.EAGAIN && tries < soonTries; tries++ { // more is about to come
		n, err = recvPieces(w.fd, w.rec)
	}
	if err == unix.EAGAIN {
		return false, nil
	}
	if err != nil {
		return false, w.ended(err)
	}
	w.rec = skip(w.rec, n)
	w.left -= int64(n)
	if w.left == 0 {
		return true, w.act()
	}
	return true, nil
}

// consume takes frames from b; what is left of the last header is kept.
func (w *wire) consume(b []byte) error {
	for {
		if w.left > 0 {
			n := int(min(w.left, int64(len(b))))
			w.sink.scatter(b[:n], &w.cut)
			b, w.left = b[n:], w.left-int64(n)
			if w.left > 0 {
				return nil
			}
			if err := w.act(); err != nil {
				return err
			}
			continue
		}
		if len(b) < headerBytes {
			w.nhead = copy(w.part[:], b)
			return nil
		}
		w.h.decode(b)
		b = b[headerBytes:]
		if err := w.start(); err != nil {
			return err
		}
	}
}

// start checks a header and prepares for its body.
func (w *wire) start() error {
	h := &w.h
	if h.Bytes > maxPayload && h.payload() != 0 || h.Desc != 0 && h.Kind != kindError {
		return fmt.Errorf("%w: an answer of %d + %d bytes", errProtocol, h.Desc, h.Bytes)
	}
	w.owner, w.left, w.sink, w.big = nil, int64(h.Desc)+h.payload(), &w.plain, false
	if h.ID != 0 {
		w.owner = w.table.find(h.ID)
		if p := w.owner; p == nil || h.Kind != p.answer && h.Kind != kindError {
			return fmt.Errorf("%w: an answer of kind %d to a question that was not asked", errProtocol, h.Kind)
		}
	}
	if err := w.prepare(); err != nil {
		return err
	}
	if w.left == 0 {
		return w.act()
	}
	return nil
}

// prepare says where the body goes, if it may come.
func (w *wire) prepare() error {
	h, p := &w.h, w.owner
	switch h.Kind {
	case kindData:
		if p == nil || w.left > p.room {
			return fmt.Errorf("%w: %d bytes of data that were not asked for", errProtocol, w.left)
		}
		p.room -= w.left
		w.sink, w.big = &p.into, p.big
	case kindSend:
		if p != nil || w.left > maxMsg || transport.Rank(h.Rank) != w.t.opt.Me {
			return fmt.Errorf("%w: a message of %d bytes for rank %d", errProtocol, w.left, h.Rank)
		}
		w.mail = make([]byte, w.left)
		w.plain.setBytes(w.mail)
	case kindReply:
		if p == nil || w.left > maxMsg {
			return fmt.Errorf("%w: a reply of %d bytes", errProtocol, w.left)
		}
		p.body, w.big = make([]byte, w.left), w.left > bufferBytes
		w.plain.setBytes(p.body)
	case kindError, kindLost:
		if h.Desc > errorDesc || h.Bytes > maxText {
			return fmt.Errorf("%w: a text of %d bytes", errProtocol, w.left)
		}
		w.plain.setBytes(w.text[:w.left])
	case kindDone, kindOld, kindFenced, kindBye:
	default:
		return fmt.Errorf("%w: an answer of kind %d", errProtocol, h.Kind)
	}
	return nil
}

// act does what a complete answer says.
func (w *wire) act() error {
	p := w.owner
	var err error
	w.afloat.Store(0)
	switch w.h.Kind {
	case kindOld:
		if p != nil {
			p.old = int64(w.h.Addr)
		}
	case kindError:
		err = w.refusal(p)
		fallthrough
	case kindData:
		if p != nil && p.room > 0 && p.parts.Load() == 1 {
			return fmt.Errorf("%w: %d bytes of data are missing", errProtocol, p.room)
		}
	case kindSend:
		m := transport.Msg{Kind: w.h.Flags, Body: w.mail}
		w.mail = nil
		w.t.opt.Handle(w.server, w.t.opt.Me, m, nil)
	case kindLost:
		w.t.opt.Lost(transport.Rank(w.h.Rank), string(w.text[:w.h.Bytes]))
	case kindBye:
		w.bye.Store(true)
	}
	w.owner = nil
	if p != nil {
		w.settle(p.stores)
		w.table.finish(p, err)
	}
	return nil
}

// refusal is what the node says against a request: for its owner, else for the next fence.
func (w *wire) refusal(p *pending) error {
	h := &w.h
	nbytes := int64(0) // that were not moved
	if h.Desc == errorDesc {
		nbytes = int64(binary.LittleEndian.Uint64(w.text[:]) & math.MaxInt64)
	}
	err := fmt.Errorf("refused: %s", w.text[h.Desc:uint64(h.Desc)+h.Bytes])
	if h.Flags == codeBadAddr {
		err = fmt.Errorf("%w: %d bytes at %#x of rank %d", transport.ErrBadAddr, nbytes, h.Addr, h.Rank)
	}
	if p == nil || p.manner == silent {
		w.refused.CompareAndSwap(nil, &err)
		return err
	}
	p.room -= min(nbytes, p.room)
	return err
}

var errProtocol = errors.New("violation of the wire format")

// ended is the error of a connection that gives no more.
func (w *wire) ended(err error) error {
	if err == io.EOF {
		err = errors.New("connection lost")
	}
	return err
}
