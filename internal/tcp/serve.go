// SPDX-License-Identifier: BSD-3-Clause

// Acting on frames: every request names a rank of this node; its memory is checked for before anything is touched.
package tcp

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// begin acts on a frame whose header and descriptors have arrived. What has data goes on in phase storing, skipping or
// sending. An error is a violation of the protocol.
func (w *work) begin(desc []byte) error {
	h := &w.head
	if h.Kind == kindFence {
		w.answer(header{Kind: kindFenced, ID: h.ID})
		return nil
	}
	if h.Kind == kindBye {
		w.c.bye = true
		return nil
	}
	if w.local = w.s.local(h.Rank); w.local < 0 {
		return fmt.Errorf("request for rank %d, which is not on this node", h.Rank)
	}
	switch h.Kind {
	case kindRMW:
		return w.readModifyWrite()
	case kindSend, kindCall:
		w.message()
		return nil
	case kindAcc:
		desc = desc[copy(w.scale[:], desc):]
	}
	if err := w.describe(desc); err != nil {
		return err
	}
	if !w.owned() {
		w.refuse(codeBadAddr, int64(h.Bytes), "")
		return nil
	}
	if h.Kind == kindGet {
		w.get()
		return nil
	}
	w.phase = storing
	return w.grains()
}

// answer queues a reply without data.
func (w *work) answer(h header) { w.out = h.append(w.out) }

// describe sets the area to what the request is about.
func (w *work) describe(desc []byte) error {
	h := &w.head
	switch h.Flags & flagShape {
	case flagStrided:
		if err := w.shape.decode(desc, h.Bytes); err != nil {
			return err
		}
		w.area.setStrided(uintptr(h.Addr), &w.shape)
	case flagVector:
		if err := w.list.decode(desc, h.Addr, h.Bytes); err != nil {
			return err
		}
		w.area.setVector(w.list, int64(h.Bytes))
	default:
		w.area.setPlain(uintptr(h.Addr), int64(h.Bytes))
	}
	w.long = h.Kind != kindAcc && (w.area.form == 0 || w.area.row() >= int64(w.s.gather))
	return nil
}

// owned tells whether all memory of the request is the rank's.
func (w *work) owned() bool {
	h := &w.head
	switch h.Flags & flagShape {
	case flagStrided:
		lo, hi := kernel.Extent(w.shape.strides(), w.shape.counts())
		if lo < -int64(h.Addr) || hi > math.MaxInt64-int64(h.Addr) || hi < lo || lo < 0 && hi > math.MaxInt64+lo {
			return false
		}
		return w.s.opt.Node.Owns(w.local, uintptr(int64(h.Addr)+lo), hi-lo)
	case flagVector:
		return w.ownsList()
	}
	return w.s.opt.Node.Owns(w.local, uintptr(h.Addr), int64(h.Bytes))
}

// ownsList asks once for the whole span of the list: usually it is one allocation.
func (w *work) ownsList() bool {
	low, high := uintptr(math.MaxUint64), uintptr(0)
	for _, g := range w.list.groups {
		for _, a := range w.list.addrs[g.first : g.first+g.n] {
			low, high = min(low, a), max(high, a+uintptr(g.bytes))
		}
	}
	if w.s.opt.Node.Owns(w.local, low, int64(high-low)) {
		return true
	}
	for _, g := range w.list.groups {
		for _, a := range w.list.addrs[g.first : g.first+g.n] {
			if !w.s.opt.Node.Owns(w.local, a, int64(g.bytes)) {
				return false
			}
		}
	}
	return true
}

// grains checks that an accumulate is of whole elements everywhere.
func (w *work) grains() error {
	if w.head.Kind != kindAcc {
		return nil
	}
	size := kernel.TypeSize(w.head.elem())
	whole := w.head.Bytes%uint64(size) == 0
	switch w.head.Flags & flagShape {
	case flagStrided:
		whole = int(w.shape.count[0])%size == 0
	case flagVector:
		for _, g := range w.list.groups {
			whole = whole && g.bytes%size == 0
		}
	}
	if !whole {
		return fmt.Errorf("accumulate of broken elements of %d bytes", size)
	}
	return nil
}

// refuse tells the client that a request was not carried out, and throws its data away.
func (w *work) refuse(code uint8, nbytes int64, text string) {
	h := &w.head
	text = text[:min(len(text), maxText)]
	e := header{Kind: kindError, Flags: code, Desc: 8, Rank: h.Rank, ID: h.ID, Addr: h.Addr, Bytes: uint64(len(text))}
	w.out = e.append(w.out)
	w.out = binary.LittleEndian.AppendUint64(w.out, uint64(nbytes))
	w.out = append(w.out, text...)
	if w.skip = h.payload(); w.skip > 0 {
		w.phase = skipping
	}
}

// get answers with data: small ones at once, behind the replies before them.
func (w *work) get() {
	n := int(w.head.Bytes)
	w.answer(header{Kind: kindData, ID: w.head.ID, Bytes: w.head.Bytes})
	w.phase = sending
	if at := len(w.out); n <= outBytes-at && (n <= packBytes || w.brief) {
		w.out = w.out[:at+n]
		w.area.gather(w.out[at:], &w.part)
		w.phase = atHead
	}
}

// readModifyWrite acts at once.
func (w *work) readModifyWrite() error {
	h := &w.head
	w.rmw = transport.RMW{Op: transport.FetchAdd, Bytes: 4, Addr: uintptr(h.Addr), Operand: int64(h.Bytes)}
	if h.Flags&flagSwap != 0 {
		w.rmw.Op = transport.Swap
	}
	if h.Flags&flagWide != 0 {
		w.rmw.Bytes = 8
	}
	nbytes := int64(w.rmw.Bytes)
	switch {
	case h.Addr > maxAddr || !w.s.opt.Node.Owns(w.local, w.rmw.Addr, nbytes):
		w.refuse(codeBadAddr, nbytes, "")
		return nil
	case h.Addr%uint64(nbytes) != 0:
		w.refuse(codeRefused, nbytes, "the address is not aligned")
		return nil
	}
	if err := w.s.opt.Memory.RMW(transport.Peer(w.local), &w.rmw); err != nil {
		return err
	}
	w.answer(header{Kind: kindOld, ID: h.ID, Addr: uint64(w.rmw.Old)})
	return nil
}

// message makes room for the body, which is the handler's to keep.
func (w *work) message() {
	w.phase, w.long = storing, true
	w.body = make([]byte, w.head.Bytes)
	w.area.setPlain(uintptr(unsafe.Pointer(unsafe.SliceData(w.body))), int64(len(w.body)))
}

// complete ends a frame whose data has all been stored.
func (w *work) complete() {
	h := &w.head
	switch {
	case h.Kind == kindSend || h.Kind == kindCall:
		m := transport.Msg{Kind: h.Flags, Body: w.body}
		w.body = nil
		var reply func([]byte)
		if h.Kind == kindCall {
			c, id := w.c, h.ID
			reply = func(body []byte) { c.reply(id, body) }
		}
		w.s.opt.Handle(w.c.from, transport.Rank(h.Rank), m, reply)
		if reply != nil {
			return
		}
	case h.Flags&flagAck != 0:
		w.answer(header{Kind: kindDone, ID: h.ID})
		return
	}
	w.c.mute.Store(true)
}
