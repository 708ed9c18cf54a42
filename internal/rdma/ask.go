// SPDX-License-Identifier: BSD-3-Clause

// Questions to a node's server and the answers to them, messages.
package rdma

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"libarmci/internal/transport"
)

// inquiry is a question that has not been answered.
type inquiry struct {
	op    *op
	want  kind
	into  runs // of a get: where its bytes belong
	bytes int
	got   int // bytes of a reply so far
}

// questions are those of a wire, by number.
type questions struct {
	mu   sync.Mutex
	open map[uint32]*inquiry
	next uint32
	gone error
}

// add makes a question a part of its operation.
func (s *questions) add(q inquiry) (id uint32, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone != nil {
		return 0, s.gone
	}
	if s.open == nil {
		s.open = map[uint32]*inquiry{}
	}
	if s.next++; s.next == 0 {
		s.next = 1
	}
	q.op.left.Add(1)
	s.open[s.next] = &q
	return s.next, nil
}

// take removes a question that has been answered: by what it wants, or, want being 0, by anything.
func (s *questions) take(id uint32, want kind) *inquiry {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.open[id]
	if q == nil || want != 0 && q.want != want {
		return nil
	}
	delete(s.open, id)
	return q
}

func (s *questions) fail(err error) {
	s.mu.Lock()
	all := s.open
	s.open, s.gone = nil, err
	s.mu.Unlock()
	for _, q := range all {
		q.op.part(err)
	}
}

// question sends a message that is answered. The caller has the lock.
func (w *wire) question(buffer int32, h *header, n int, want kind) (*op, error) {
	o := newOp(nil)
	var err error
	if h.id, err = w.asked.add(inquiry{op: o, want: want}); err != nil {
		w.c.out.put(buffer)
		return nil, err
	}
	o.part(nil) // posting
	return o, w.say(buffer, h, n)
}

// receive deals with a message of the server. For the driver.
func (w *wire) receive(b []byte) {
	f, err := decode(b)
	if err != nil {
		w.fail(err)
		return
	}
	defer w.caughtUp(f.handled) // after what it may have to tell
	switch f.kind {
	case kindAck:
	case kindBye:
		w.bye.Store(true)
	case kindReply:
		w.reply(&f)
	case kindRefused:
		w.refuse(&f)
	default:
		q := w.asked.take(f.id, f.kind)
		if q == nil || f.kind == kindData && len(f.data) != q.bytes {
			w.fail(errFrame)
			return
		}
		if f.kind == kindData {
			q.into.scatter(f.data)
		} else {
			q.op.value = int64(f.arg)
			if f.flags&flagDevice != 0 {
				q.op.declared = piece{lo: uintptr(f.addr), hi: uintptr(f.arg), direct: true}
			}
			q.op.body = append(q.op.body, f.data...)
		}
		q.op.part(nil)
	}
}

// caughtUp notes that so many messages have taken effect, of which the frame has the lower bits. For the driver.
func (w *wire) caughtUp(n uint32) {
	was := w.handled.Load()
	if more := int32(n - uint32(was)); more > 0 {
		w.handled.Store(was + uint64(more))
	}
}

// reply takes a part of a reply; parts come in order.
func (w *wire) reply(f *frame) {
	q := w.asked.take(f.id, kindReply)
	switch {
	case q == nil || f.arg > maxMsg || f.addr != uint64(q.got) || uint64(len(f.data)) > f.arg-f.addr:
		w.fail(errFrame)
		return
	case q.got == 0:
		q.op.body = make([]byte, f.arg)
	}
	q.got += copy(q.op.body[q.got:], f.data)
	if q.got < len(q.op.body) {
		w.asked.mu.Lock()
		w.asked.open[f.id] = q
		w.asked.mu.Unlock()
		return
	}
	q.op.part(nil)
}

// refuse notes that something was not carried out: told at once if there is a question, else by the next fence.
func (w *wire) refuse(f *frame) {
	err := fmt.Errorf("%d bytes at %#x of rank %d: %w", f.arg, f.addr, f.rank, transport.ErrBadAddr)
	if f.id == 0 {
		w.refused.Store(&err)
		return
	}
	if q := w.asked.take(f.id, 0); q != nil {
		q.op.part(err)
	}
}

// ask sends a small message and waits for the answer to it.
func (w *wire) ask(h header, want kind) (*op, error) {
	if err := w.lock(); err != nil {
		return nil, err
	}
	buffer, err := w.open()
	var o *op
	if err == nil {
		o, err = w.question(buffer, &h, headerBytes, want)
	}
	w.unlock()
	if err != nil {
		return nil, err
	}
	w.c.await(o.ended.Load)
	return o, o.err
}

// fetchKeys asks for the keys of the memory around an address. While the question travels, the local memory at a mover's
// cursor, if there is one, is registered. The caller has the lock.
func (w *wire) fetchKeys(addr uintptr, m *mover, r *runs) error {
	o, err := w.askPieces(&header{kind: kindKeys, addr: uint64(addr)})
	if err != nil {
		return err
	}
	if m != nil {
		_, _, err = m.caller(r)
	}
	list, unanswered := w.answered(o)
	w.keys.add(list...)
	return errors.Join(unanswered, err)
}

// pieces asks a question that is answered by keys. The caller has the lock.
func (w *wire) pieces(h *header) ([]piece, error) {
	o, err := w.askPieces(h)
	if err != nil {
		return nil, err
	}
	return w.answered(o)
}

func (w *wire) askPieces(h *header) (*op, error) {
	buffer, err := w.open()
	if err != nil {
		return nil, err
	}
	h.rank = uint32(w.server)
	return w.question(buffer, h, headerBytes, kindKey)
}

func (w *wire) answered(o *op) (list []piece, err error) {
	w.c.await(o.ended.Load)
	for b := o.body; len(b) >= keyBytes; b = b[keyBytes:] {
		list = append(list, pieceFrom(b))
	}
	return list, o.err
}

func (p *piece) append(b []byte) []byte {
	le := binary.LittleEndian
	direct := uint32(0)
	if p.direct {
		direct = 1
	}
	b = le.AppendUint64(le.AppendUint64(b, uint64(p.lo)), uint64(p.hi))
	return le.AppendUint32(le.AppendUint32(b, p.key), direct)
}

func pieceFrom(b []byte) piece {
	le := binary.LittleEndian
	return piece{uintptr(le.Uint64(b)), uintptr(le.Uint64(b[8:])), le.Uint32(b[16:]), le.Uint32(b[20:]) != 0}
}

// Send posts a message.
func (t *Transport) Send(peer transport.Peer, m transport.Msg) error {
	_, err := t.message(peer, m, kindSend)
	return err
}

// Call posts a message and waits for the reply to it.
func (t *Transport) Call(peer transport.Peer, m transport.Msg) ([]byte, error) {
	o, err := t.message(peer, m, kindCall)
	if err != nil {
		return nil, err
	}
	if t.client.await(o.ended.Load); o.err != nil {
		return nil, o.err
	}
	return o.body, nil
}

// message sends a message in parts, each of which fits into a buffer.
func (t *Transport) message(peer transport.Peer, m transport.Msg, k kind) (o *op, err error) {
	if len(m.Body) > maxMsg {
		return nil, fmt.Errorf("message of %d bytes to peer %d: %w", len(m.Body), peer, transport.ErrTooLong)
	}
	w, err := t.wire(peer)
	if err != nil {
		return nil, err
	}
	if err := w.lock(); err != nil {
		return nil, err
	}
	defer w.unlock()
	h := header{kind: k, what: m.Kind, rank: uint32(t.peers[peer].Rank), arg: uint64(len(m.Body))}
	if k == kindCall {
		o = newOp(nil)
		if h.id, err = w.asked.add(inquiry{op: o, want: kindReply}); err != nil {
			return nil, err
		}
		o.part(nil)
	}
	for body := m.Body; ; h.kind = kindMore {
		buffer, err := w.open()
		if err != nil {
			return o, err
		}
		if !m.Loose {
			w.posted.Store(w.sent)
		}
		n := copy(w.c.out.bytes(buffer)[headerBytes:w.most], body)
		h.bytes = uint32(n)
		if err := w.say(buffer, &h, headerBytes+n); err != nil {
			return o, err
		}
		if body = body[n:]; len(body) == 0 {
			return o, nil
		}
	}
}
