// SPDX-License-Identifier: BSD-3-Clause

// The Go half of read-modify-writes by C (words.c): the peers that C may ask, the answers that
// Go's poller finds, and both messages as the data server sees them.
package fastpath

// #include "fastpath.h"
import "C"

import (
	"unsafe"

	"libarmci/internal/transport"
)

// Incoming is the buffers that messages arrive in, Bytes each, in registered memory.
type Incoming struct {
	Addr  uintptr
	Bytes int
	Count int
	Key   uint32
}

// receiveFrom has C take answers out of the buffers of a receive queue; nil: there is none.
func (p *Path) receiveFrom(queue unsafe.Pointer, in *Incoming) {
	f := &C.rdma_fast
	if f.receive = queue; f.network.offer == nil {
		f.receive = nil
	}
	f.incoming = C.struct_rdma_fast_local{lo: C.uintptr_t(in.Addr),
		bytes: C.uintptr_t(in.Bytes * in.Count), lkey: C.uint32_t(in.Key)}
	f.incoming_bytes = C.uint32_t(in.Bytes)
}

func peerOf(rank transport.Rank) *C.struct_rdma_fast_peer {
	return &C.rdma_fast.peers[uint32(rank)%C.RDMA_FAST_PEERS]
}

// KnowsPeer reports whether C can ask the data server of a rank. One that is being changed does no
// harm.
func (p *Path) KnowsPeer(rank transport.Rank) bool {
	return p == nil || C.rdma_fast.receive == nil || peerOf(rank).rank == C.int(rank)
}

// AddPeer has C ask the data server of a rank on a queue pair.
func (p *Path) AddPeer(rank transport.Rank, pair unsafe.Pointer) {
	if p == nil {
		return
	}
	p.change(func() {
		*peerOf(rank) = C.struct_rdma_fast_peer{rank: C.int(rank), pair: pair}
	})
}

// DropPeers has C ask no data server on a queue pair any more.
func (p *Path) DropPeers(pair unsafe.Pointer) {
	p.dropPeers(func(via unsafe.Pointer) bool { return via == pair })
}

func (p *Path) dropPeers(some func(pair unsafe.Pointer) bool) {
	if p == nil {
		return
	}
	p.change(func() {
		for i := range C.rdma_fast.peers {
			if to := &C.rdma_fast.peers[i]; some(unsafe.Pointer(to.pair)) {
				*to = C.struct_rdma_fast_peer{rank: -1}
			}
		}
	})
}

// Receive handles a message that Go's poller has found, if it is an answer to C.
func (p *Path) Receive(pair uint32, b []byte) bool {
	return p != nil && bool(C.rdma_fast_receive(C.uint32_t(pair), unsafe.Pointer(unsafe.SliceData(b)),
		C.uint32_t(len(b))))
}

// AnswerBytes is the length of an answer.
const AnswerBytes = C.sizeof_struct_rdma_fast_answer

// Question is what an origin's C asks a data server.
type Question struct {
	ID   uint64
	Rank transport.Rank
	transport.RMW
}

// AsQuestion decodes a message if it is a question.
func AsQuestion(b []byte) (q Question, ok bool) {
	var c C.struct_rdma_fast_question
	if len(b) != C.sizeof_struct_rdma_fast_question {
		return q, false
	}
	copy((*[C.sizeof_struct_rdma_fast_question]byte)(unsafe.Pointer(&c))[:], b)
	if c.prefix.kind != C.RDMA_FAST_QUESTION {
		return q, false
	}
	op, ok := transport.WordOp(int(c.op))
	q = Question{ID: uint64(c.prefix.id), Rank: transport.Rank(c.rank), RMW: transport.RMW{Op: op,
		Bytes: int(c.bytes), Addr: uintptr(c.word), Operand: int64(c.operand),
		Compare: int64(c.compare)}}
	return q, ok && q.Valid()
}

// AppendAnswer encodes the answer to a question.
func AppendAnswer(b []byte, id uint64, old int64, done bool) []byte {
	c := C.struct_rdma_fast_answer{old: C.uint64_t(old), declined: 1}
	c.prefix.kind, c.prefix.id = C.RDMA_FAST_ANSWER, C.uint64_t(id)
	if done {
		c.declined = 0
	}
	return append(b, (*[AnswerBytes]byte)(unsafe.Pointer(&c))[:]...)
}
