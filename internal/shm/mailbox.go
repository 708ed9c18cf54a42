// SPDX-License-Identifier: BSD-3-Clause

// The Go side of two-sided messages: each method is one call of C (send.c, message.c).
package shm

// #include "shm.h"
// // received is returned by value, so that a frequent receive allocates nothing on Go's heap.
// struct received {
// 	struct shm_message message;
// 	int error;
// };
// static inline struct received receive(int from, int64_t tag, void *buf, size_t cap)
// {
// 	struct received r = {.message = {.from = from, .tag = tag}};
// 	r.error = shm_recv(&r.message, buf, cap);
// 	return r;
// }
// static inline bool deliver(int to, struct shm_message m, const void *buf, bool wait)
// {
// 	return shm_deliver(to, &m, buf, wait);
// }
import "C"

import (
	"unsafe"

	"libarmci/internal/transport"
)

// mailbox implements transport.Mailbox.
type mailbox struct{}

// Send sends a message to a rank of the node. It waits for the receiver if the ring is full.
func (*mailbox) Send(to int, tag int64, body []byte) {
	C.shm_send(C.int(to), C.int64_t(tag), unsafe.Pointer(unsafe.SliceData(body)),
		C.size_t(len(body)))
}

// Deliver is Send on behalf of a rank of another node. Without wait it never blocks, and returns
// false if there is no room or another thread is sending there.
func (*mailbox) Deliver(to int, from transport.Rank, tag, total int64, body []byte,
	wait bool) bool {
	l := C.struct_shm_message{from: C.int(from), tag: C.int64_t(tag),
		nbytes: C.size_t(len(body)), total: C.size_t(total)}
	return bool(C.deliver(C.int(to), l, unsafe.Pointer(unsafe.SliceData(body)), C.bool(wait)))
}

// SetBacklogged records whether messages of other nodes for a local rank are queued for lack of
// room. Then C does not deliver later ones ahead of them.
func (*mailbox) SetBacklogged(local int, yes bool) {
	C.shm_set_backlogged(C.int(local), C.bool(yes))
}

// Recv receives the oldest message with a tag from a rank, or from any rank (-1). ErrTooLong: the
// message does not fit into body and remains to be received.
func (*mailbox) Recv(from transport.Rank, tag int64, body []byte) (transport.Received, error) {
	into := unsafe.Pointer(unsafe.SliceData(body))
	r := C.receive(C.int(from), C.int64_t(tag), into, C.size_t(len(body)))
	got := &r.message
	l := transport.Received{From: transport.Rank(got.from), Bytes: int(got.nbytes),
		Total: int(got.total)}
	if r.error != 0 {
		return l, transport.ErrTooLong
	}
	return l, nil
}

// Arrived reports whether Recv of a message with a tag from a rank, or any rank (-1), would return
// at once.
func (*mailbox) Arrived(from transport.Rank, tag int64) bool {
	return bool(C.shm_arrived(C.int(from), C.int64_t(tag)))
}
