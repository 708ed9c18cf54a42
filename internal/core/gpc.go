// SPDX-License-Identifier: BSD-3-Clause

// Global procedure calls: active messages. A registered function runs at the target, on a thread of
// the library, without the help of the target's application; its reply comes back as a message,
// too.
package core

import (
	"encoding/binary"
	"fmt"
	"sync"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// Procedure is a registered function. It gets header and data, and returns at most headCap and
// dataCap bytes.
type Procedure func(from int, head, data []byte, headCap, dataCap int) (rhead, rdata []byte)

// gpc is the procedures that this rank has registered and the calls that await their replies.
type procedures struct {
	rt         *Runtime
	mu         sync.Mutex               // guards all below
	registered []Procedure              // by -handle - 1; nil = released
	lastCall   uint64                   // number of the last call
	awaited    map[uint64]chan gpcReply // by number of the call
}

// gpcReply is the reply to a call; ok is false if the procedure did not run.
type gpcReply struct {
	head, data []byte
	ok         bool
}

// GPCRegister adds a procedure; ranks must register the same ones in the same order. Handles are
// -1, -2, ...
func (ps *procedures) GPCRegister(p Procedure) int {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.registered = append(ps.registered, p)
	return -len(ps.registered)
}

// GPCRelease removes a procedure from the list.
func (ps *procedures) GPCRelease(h int) error {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if h >= 0 || -h > len(ps.registered) || ps.registered[-h-1] == nil {
		return argErr(CodeOp, "handle", "%d is not a registered procedure", h)
	}
	ps.registered[-h-1] = nil
	return nil
}

// procedureOf is the registered procedure of a handle, nil if there is none. It locks mu.
func (ps *procedures) procedureOf(h int) Procedure {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if h >= 0 || -h > len(ps.registered) {
		return nil
	}
	return ps.registered[-h-1]
}

// A call's body: uint64 id, uint32 handle, head length, reply head capacity, reply data capacity;
// head; data. A reply's body: uint64 id, uint32 1 if the procedure ran, uint32 head length; head;
// data.
const (
	callHead  = 24
	replyHead = 16
)

// MaxProcedure is the most bytes of a call's header and of its data, and of its reply's
// (ARMCI_Get_gpc_hlen and _dlen). Both fit into one message on every transport.
const MaxProcedure = 32 << 20

var _ [transport.MaxMessage - 2*MaxProcedure - callHead - forwardHead]byte

// checkProcedure returns an error if a length of a call is beyond the limit.
func checkProcedure(hlen, dlen, rhlen, rdlen int) error {
	for i, n := range []int{hlen, dlen, rhlen, rdlen} {
		if n > MaxProcedure {
			return argErr(CodeBytes, []string{"hlen", "dlen", "rhlen", "rdlen"}[i],
				"%d bytes, where %d are the most", n, MaxProcedure)
		}
	}
	return nil
}

// CallProcedure calls procedure h at proc and returns a function that waits for its reply.
func (ps *procedures) CallProcedure(h, proc int, head, data []byte, headCap,
	dataCap int) (wait func() ([]byte, []byte, error), err error) {
	if err := ps.rt.checkRank("p", proc); err != nil {
		return nil, err
	}
	if ps.procedureOf(h) == nil {
		return nil, argErr(CodeOp, "h", "%d is not a registered procedure", h)
	}
	if err := checkProcedure(len(head), len(data), headCap, dataCap); err != nil {
		return nil, err
	}
	if err := ps.rt.fenceForMessage(proc); err != nil {
		return nil, err
	}
	reply := make(chan gpcReply, 1)
	id := ps.addCall(reply)
	body := make([]byte, callHead, callHead+len(head)+len(data))
	binary.LittleEndian.PutUint64(body, id)
	for i, v := range []int{h, len(head), headCap, dataCap} {
		binary.LittleEndian.PutUint32(body[8+4*i:], uint32(v))
	}
	body = append(append(body, head...), data...)
	if err := ps.rt.sendActive(transport.Rank(proc), msgProcedure, body); err != nil {
		ps.removeCall(id)
		return nil, fmt.Errorf("call of procedure %d at rank %d: %w", h, proc, err)
	}
	return func() ([]byte, []byte, error) {
		got := <-reply
		if !got.ok {
			return nil, nil, fmt.Errorf("procedure %d is not registered at rank %d", h,
				proc)
		}
		return got.head, got.data, nil
	}, nil
}

// serveCall runs the procedure of a call (body) and sends the reply. It may block.
func (ps *procedures) serveCall(from transport.Rank, body []byte) {
	defer log.Guard()
	u32 := func(i int) int { return int(binary.LittleEndian.Uint32(body[8+4*i:])) }
	h, hlen, args := int(int32(u32(0))), u32(1), body[callHead:]
	reply := make([]byte, replyHead)
	copy(reply, body[:8])
	if p := ps.procedureOf(h); p != nil && hlen <= len(args) {
		head, data := p(int(from), args[:hlen], args[hlen:], u32(2), u32(3))
		binary.LittleEndian.PutUint32(reply[8:], 1)
		binary.LittleEndian.PutUint32(reply[12:], uint32(len(head)))
		reply = append(append(reply, head...), data...)
	}
	if err := ps.rt.sendActive(from, msgReply, reply); err != nil {
		log.Warnf("reply to the call of rank %d: %v", from, err)
	}
}

// addCall numbers a call. Its reply is to be sent to the channel. It locks mu.
func (ps *procedures) addCall(reply chan gpcReply) (id uint64) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.awaited == nil {
		ps.awaited = map[uint64]chan gpcReply{}
	}
	ps.lastCall++
	ps.awaited[ps.lastCall] = reply
	return ps.lastCall
}

// removeCall removes a call from those that await a reply, and returns its channel; nil if it is
// not there. It locks mu.
func (ps *procedures) removeCall(id uint64) chan gpcReply {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ch := ps.awaited[id]
	delete(ps.awaited, id)
	return ch
}

// handleReply passes a reply to the call that awaits it; a malformed one ends the wait with an
// error.
func (ps *procedures) handleReply(body []byte) {
	ch := ps.removeCall(binary.LittleEndian.Uint64(body))
	if ch == nil {
		return
	}
	n := int(binary.LittleEndian.Uint32(body[12:]))
	if n > len(body)-replyHead {
		ch <- gpcReply{}
		return
	}
	ch <- gpcReply{body[replyHead : replyHead+n], body[replyHead+n:],
		binary.LittleEndian.Uint32(body[8:]) == 1}
}
