// SPDX-License-Identifier: BSD-3-Clause

// The Go half of questions (questions.c): the peers to which C may post them, the answers that Go's
// poller receives, and the messages as the data server decodes them.
package fastpath

// #include "answers.h"
// static inline bool rdma_fast_is_peer_behind(int rank)
// {
// 	return atomic_load(rdma_fast_peer_behind(rank));
// }
// static inline void rdma_fast_clear_peer_behind(int rank)
// {
// 	atomic_store(rdma_fast_peer_behind(rank), false);
// }
import "C"

import (
	"unsafe"

	"libarmci/internal/transport"
)

// Incoming is the receive buffers of a queue: Count of Bytes each, in registered memory.
type Incoming struct {
	Addr  uintptr
	Bytes int
	Count int
	Key   uint32
}

// receiveFrom has C receive answers in the buffers of a receive queue; nil: there is none.
func (p *Path) receiveFrom(queue unsafe.Pointer, in *Incoming) {
	f := &C.rdma_fast
	if f.receive = queue; f.network.offer == nil {
		f.receive = nil
	}
	f.incoming, f.incoming_bytes = in.receiveArea(), C.uint32_t(in.Bytes)
}

func (in *Incoming) receiveArea() C.struct_rdma_fast_local {
	return C.struct_rdma_fast_local{lo: C.uintptr_t(in.Addr),
		bytes: C.uintptr_t(in.Bytes * in.Count), lkey: C.uint32_t(in.Key)}
}

func peerEntry(rank transport.Rank) *C.struct_rdma_fast_peer {
	return &C.rdma_fast.peers[uint32(rank)%C.RDMA_FAST_PEERS]
}

// KnowsPeer reports whether C can post questions to the data server of a rank. A wrong answer,
// while the entry is being changed, does no harm.
func (p *Path) KnowsPeer(rank transport.Rank) bool {
	return p == nil || C.rdma_fast.receive == nil || peerEntry(rank).rank == C.int(rank)
}

// AddPeer has C post questions to the data server of a rank on a queue pair, in messages of so many
// bytes at most; not if the connection is broken, since later questions would not be failed. broken
// is called while C does not hold the queues.
func (p *Path) AddPeer(rank transport.Rank, pair unsafe.Pointer, most int, broken func() bool) {
	if p == nil {
		return
	}
	p.changeTables(func() {
		if !broken() {
			*peerEntry(rank) = C.struct_rdma_fast_peer{rank: C.int(rank), pair: pair,
				max_message: C.uint32_t(most)}
		}
	})
}

// HasBacklog reports whether C sends a rank no messages, since that does not keep up.
func (p *Path) HasBacklog(rank transport.Rank) bool {
	return p != nil && bool(C.rdma_fast_is_peer_behind(C.int(rank)))
}

// Delivered has C send a rank messages again.
func (p *Path) Delivered(rank transport.Rank) {
	if p != nil {
		C.rdma_fast_clear_peer_behind(C.int(rank))
	}
}

// AddSpan has C post questions for accumulates to an allocation [lo, hi) of a rank, around an
// address.
func (p *Path) AddSpan(rank transport.Rank, addr, lo, hi uintptr) {
	if p == nil {
		return
	}
	s := C.rdma_fast_span_entry(C.int(rank), C.uintptr_t(addr))
	if s.rank == C.int(rank) && uintptr(s.lo) == lo && uintptr(s.hi) == hi {
		return // a wrong answer, while the entry is being changed, does no harm
	}
	p.changeTables(func() {
		*s = C.struct_rdma_fast_span{rank: C.int(rank), lo: C.uintptr_t(lo),
			hi: C.uintptr_t(hi)}
	})
}

// dropSpansWhere empties the entries of the allocations that a function selects.
func (p *Path) dropSpansWhere(some func(rank int) bool) {
	p.changeTables(func() {
		for i := range C.rdma_fast.spans {
			if s := &C.rdma_fast.spans[i]; some(int(s.rank)) {
				*s = C.struct_rdma_fast_span{rank: -1}
			}
		}
	})
}

var unansweredStores = atomicWord(&C.rdma_fast.unanswered_stores)

// HasPendingAccumulates reports whether questions that store are unanswered on a queue pair.
func (p *Path) Storing(pair unsafe.Pointer) bool {
	if p == nil || unansweredStores.Load() == 0 {
		return false
	}
	p.AcquireQueues()
	defer p.ReleaseQueues()
	return bool(C.rdma_fast_has_store_questions(pair))
}

// DropPeers has C post no questions on a queue pair any more.
func (p *Path) DropPeers(pair unsafe.Pointer) {
	p.dropPeersWhere(func(via unsafe.Pointer) bool { return via == pair })
}

// dropPeersWhere empties the entries of the peers that a function selects.
func (p *Path) dropPeersWhere(some func(pair unsafe.Pointer) bool) {
	if p == nil {
		return
	}
	p.changeTables(func() {
		for i := range C.rdma_fast.peers {
			if to := &C.rdma_fast.peers[i]; some(unsafe.Pointer(to.pair)) {
				*to = C.struct_rdma_fast_peer{rank: -1}
			}
		}
	})
}

// Receive handles a message that Go's poller has received, if it is an answer to C; false if it is
// none.
func (p *Path) Receive(pair uint32, b []byte) bool {
	return p != nil && bool(C.rdma_fast_handle_message(C.uint32_t(pair),
		unsafe.Pointer(unsafe.SliceData(b)), C.uint32_t(len(b))))
}

// AnswerBytes is the length of an answer.
const AnswerBytes = C.sizeof_struct_rdma_fast_answer

// Question is a question of an origin's C about one word. Known: it is a read-modify-write.
// Unlocks: the mutex at its address is to be unlocked.
type Question struct {
	ID             uint64
	Rank           transport.Rank
	Known, Unlocks bool
	transport.RMW
}

// IsQuestion reports whether a message is no frame of Go's but a question of C's.
func IsQuestion(b []byte) bool {
	return len(b) >= C.sizeof_struct_rdma_fast_question && b[kindOffset] == C.RDMA_FAST_QUESTION
}

// kindOffset is the offset of the kind in a prefix.
const kindOffset = unsafe.Offsetof(C.struct_rdma_fast_prefix{}.kind)

// AsQuestion decodes a message if it is a question about one word.
func AsQuestion(b []byte) (q Question, ok bool) {
	var c C.struct_rdma_fast_question
	if len(b) != C.sizeof_struct_rdma_fast_question {
		return q, false
	}
	copy((*[C.sizeof_struct_rdma_fast_question]byte)(unsafe.Pointer(&c))[:], b)
	if c.prefix.kind != C.RDMA_FAST_QUESTION {
		return q, false
	}
	op, known := transport.RMWOpOfC(int(c.op))
	q = Question{ID: uint64(c.prefix.id), Rank: transport.Rank(c.rank)}
	q.RMW = transport.RMW{Op: op, Bytes: int(c.bytes), Addr: uintptr(c.word),
		Operand: int64(c.operand), Compare: int64(c.compare)}
	q.Known, q.Unlocks = known && q.Valid(), c.op == C.FAST_UNLOCK
	return q, true
}

// Accumulate is a question of an origin's C that accumulates. Its pointers point into the message.
type Accumulate struct {
	ID    uint64
	Rank  transport.Rank
	Xfer  transport.Xfer
	Scale transport.Scale
}

// AsAccumulate decodes a message in a receive buffer if it is an accumulate.
func AsAccumulate(b []byte) (a Accumulate, ok bool) {
	var c C.struct_fast_acc
	at := unsafe.Pointer(unsafe.SliceData(b))
	if len(b) == 0 || !bool(C.rdma_fast_decode_acc(&c, at, C.uint32_t(len(b)))) {
		return a, false
	}
	q := (*C.struct_rdma_fast_acc_question)(at)
	a = Accumulate{ID: uint64(q.prefix.id), Rank: transport.Rank(c.rank),
		Scale: transport.Scale{Type: int(c._type), Value: unsafe.Pointer(c.scale)}}
	x, levels := &a.Xfer, int(c.levels)
	x.Count = unsafe.Slice((*int32)(unsafe.Pointer(c.count)), levels+1)
	x.Remote = transport.Section{Base: uintptr(c.to),
		Stride: unsafe.Slice((*int32)(unsafe.Pointer(c.stride)), levels)}
	x.Local = transport.Section{Base: uintptr(c.data), Stride: make([]int32, levels)}
	step := int32(1)
	for l := range levels {
		step *= x.Count[l]
		x.Local.Stride[l] = step
	}
	return a, true
}

// Sent is a question of an origin's C that delivers a two-sided message. Body is in the message of
// the network.
type Sent struct {
	ID   uint64
	Rank transport.Rank
	Tag  int64
	Body []byte
}

// AsSent decodes a message in a receive buffer if it is a two-sided message.
func AsSent(b []byte) (s Sent, ok bool) {
	var c C.struct_fast_send
	at := unsafe.Pointer(unsafe.SliceData(b))
	if len(b) == 0 || !bool(C.rdma_fast_decode_send(&c, at, C.uint32_t(len(b)))) {
		return s, false
	}
	id := (*C.struct_rdma_fast_send_question)(at).prefix.id
	return Sent{ID: uint64(id), Rank: transport.Rank(c.rank), Tag: int64(c.tag),
		Body: b[len(b)-int(c.bytes):]}, true
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
