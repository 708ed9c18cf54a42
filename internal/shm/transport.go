// SPDX-License-Identifier: BSD-3-Clause

// The transport within a node. The arena memory of every peer is mapped here, so each operation is
// one call of a kernel and is complete at the target when it returns. So is one in private memory
// of another rank, which foreign.go copies. Callers have checked the addresses.
package shm

// #include "shm.h"
// #include "../kernel/atomic.h"
// static inline void *stripe_words(void) { return shm_stripes(); }
// static inline uint64_t change_word(int op, int bytes, void *word, uint64_t operand,
// 	uint64_t compare)
// {
//   uint32_t v = (uint32_t)operand, with = (uint32_t)compare, was4 = 0;
//   uint64_t was8 = 0;
//   if (bytes == 4)
//     k_change_32(op, &was4, word, &v, &with);
//   else
//     k_change_64(op, &was8, word, &operand, &compare);
//   return bytes == 4 ? was4 : was8;
// }
// #cgo nocallback full_fence
// #cgo noescape full_fence
// static inline void full_fence(void) { atomic_thread_fence(memory_order_seq_cst); }
import "C"

import (
	"fmt"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Transport implements transport.Transport over a Node.
type Transport struct {
	m       *Node
	stripes kernel.Stripes
	peers   []int // Peer -> local number
}

// NewTransport creates the node's transport; messages go to h.
func NewTransport(m *Node, h transport.Handler) *Transport {
	m.Handle(h)
	return &Transport{m: m, stripes: kernel.Stripes{Word: unsafe.Pointer(C.stripe_words()),
		Mask:       uint32(m.head.stripes) - 1,
		PitchWords: C.SHM_LINE / 4, Owner: uint32(m.opt.Ranks[m.opt.Self]) + 1,
		Device: m.head.device != 0}}
}

// Info returns the properties of the transport: every operation is complete when it returns.
func (d *Transport) Info() transport.Info {
	addr := []byte(d.m.liveness.listener.Name)
	return transport.Info{Name: "shm", Addr: addr, Immediate: true}
}

// Connect accepts the ranks of this node only.
func (d *Transport) Connect(peers []transport.PeerAddr) error {
	d.peers = make([]int, len(peers))
	for i, p := range peers {
		local, ok := d.m.localOf(p.Rank)
		if !ok {
			return fmt.Errorf("rank %d is not on this node", p.Rank)
		}
		d.peers[i] = local
	}
	return nil
}

func copySection(dst, src *transport.Section, count []int32) {
	if len(count) == 1 {
		kernel.Copy(kernel.Ptr(dst.Base), kernel.Ptr(src.Base), int(count[0]))
		return
	}
	kernel.CopyStrided(kernel.Ptr(src.Base), src.Stride, kernel.Ptr(dst.Base), dst.Stride,
		count)
}

// Put copies local to remote.
func (d *Transport) Put(p transport.Peer, x *transport.Xfer) error {
	kernel.Order()
	if local := d.peers[p]; d.m.needsForeign(local, x) {
		return d.m.moveForeign(local, x, true)
	}
	for _, s := range x.Vector {
		kernel.CopyVector(s.Local, s.Remote, s.Bytes)
	}
	if x.Vector == nil {
		copySection(&x.Remote, &x.Local, x.Count)
	}
	x.Finish(nil)
	return nil
}

// Get copies remote to local.
func (d *Transport) Get(p transport.Peer, x *transport.Xfer) error {
	kernel.Order()
	if local := d.peers[p]; d.m.needsForeign(local, x) {
		return d.m.moveForeign(local, x, false)
	}
	for _, s := range x.Vector {
		kernel.CopyVector(s.Remote, s.Local, s.Bytes)
	}
	if x.Vector == nil {
		copySection(&x.Local, &x.Remote, x.Count)
	}
	kernel.Order()
	x.Finish(nil)
	return nil
}

// Acc adds, under the node's accumulate locks, which it takes. It finishes x unless it returns an
// error.
func (d *Transport) Acc(p transport.Peer, x *transport.Xfer, s transport.Scale) error {
	kernel.Order()
	if local := d.peers[p]; d.m.needsForeign(local, x) {
		return d.m.accForeign(local, x, s, &d.stripes)
	}
	for _, v := range x.Vector {
		kernel.AccVector(d.stripes, kernel.Type(s.Type), s.Value, v.Local, v.Remote,
			v.Bytes)
	}
	if x.Vector == nil {
		kernel.AccStrided(d.stripes, kernel.Type(s.Type), s.Value, kernel.Ptr(x.Local.Base),
			x.Local.Stride,
			kernel.Ptr(x.Remote.Base), x.Remote.Stride, x.Count)
	}
	x.Finish(nil)
	return nil
}

// RMW is an atomic operation of the CPU. Private memory of another rank is not mapped here, so it
// is refused with ErrNotNative.
func (d *Transport) RMW(peer transport.Peer, r *transport.RMW) error {
	if local := d.peers[peer]; !d.m.MappedHere(local, r.Addr) {
		return fmt.Errorf("read-modify-write of private memory of rank %d: %w",
			d.m.opt.Ranks[local], transport.ErrNotNative)
	}
	if !r.Valid() {
		return fmt.Errorf("read-modify-write %d of %d bytes: %w", r.Op, r.Bytes,
			transport.ErrNotNative)
	}
	was := C.change_word(rmwOps[r.Op], C.int(r.Bytes), kernel.Ptr(r.Addr),
		C.uint64_t(r.Operand), C.uint64_t(r.Compare))
	if r.Old = int64(was); r.Bytes == 4 {
		r.Old = int64(int32(was))
	}
	return nil
}

// rmwOps are the numbers that the kernel has for the operations of transport.RMW.
var rmwOps = [...]C.int{transport.FetchAdd: C.K_WORD_ADD, transport.Swap: C.K_WORD_SWAP,
	transport.And: C.K_WORD_AND,
	transport.Or:  C.K_WORD_OR, transport.Xor: C.K_WORD_XOR,
	transport.CompareAndSwap: C.K_WORD_CAS}

// Send delivers an active message to a rank of the node.
func (d *Transport) Send(p transport.Peer, msg transport.Msg) error {
	msg.Body, msg.Head = msg.Joined(), nil
	return d.m.sendMessage(d.peers[p], msg)
}

// Call is refused: ranks of a node share memory and locks, and need no calls.
func (d *Transport) Call(p transport.Peer, _ transport.Msg) ([]byte, error) {
	return nil, fmt.Errorf("call of rank %d: %w", d.m.opt.Ranks[d.peers[p]],
		transport.ErrNotNative)
}

// Fence makes earlier stores visible before any later ones.
func (d *Transport) Fence(...transport.Peer) error {
	C.full_fence()
	return nil
}

// Progress sleeps for the given time: every operation is complete when it returns.
func (d *Transport) Progress(wait time.Duration) (int, error) {
	time.Sleep(wait)
	return 0, nil
}

// Close is idempotent. The arena outlives the transport: Node.Leave unmaps it.
func (d *Transport) Close() error { return nil }

var _ transport.Transport = (*Transport)(nil)
