// SPDX-License-Identifier: BSD-3-Clause
// kept.h - the requests that a queue pair keeps (kept.c), and how one is added, which is on the way
// of every request.
#ifndef ARMCI_VERBS_KEPT_H
#define ARMCI_VERBS_KEPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "verbs.h"

#define PACKET 0xffffffu // packet numbers have 24 bits

enum { LINE = 64 }; // bytes of a cache line

// A request that was posted, a cache line. Its pieces follow, or its data if that is inline.
struct kept {
	struct vb_request request;
	uint32_t first, next; // its first packet, and the one behind its last
	uint32_t inlined;     // bytes of data that follow
} __attribute__((aligned(LINE)));

// The log of a queue pair.
struct vb_log {
	struct vb_qp *qp;
	struct vb_cq *cq;
	struct vb_log *further; // in the list of all
	uint32_t number;        // of the queue pair
	int wake;
	bool shared; // threads that post have to lock
	bool simple; // neither shared nor held_back
	_Atomic uint32_t locked;
	// Of the thread that posts.
	char *requests, *end, *place; // the log, and the place of the next request
	size_t stride;                // bytes of a request in the log
	uint32_t capacity;
	uint64_t count;          // of those appended
	uint32_t packet, mtu;    // the next packet; bytes of one
	bool held_back;          // requests are appended, and posted later
	uint64_t posted_count;   // of those appended before that
	uint32_t posted_packet;  // the packet that was next then
	// Of the thread that polls.
	_Atomic int broken; // a status
	bool named;         // failed_id is the id of the first request that was not completed
	uint64_t failed_id;
	_Atomic bool drained, given_up;
};

static inline bool vb_is_atomic(int op)
{
	return op == VB_WR_COMPARE_SWAP || op == VB_WR_FETCH_ADD;
}

// Gives a request its packets.
static inline void vb_number_packets(struct vb_log *l, struct kept *k, uint64_t nbytes)
{
	uint32_t packets = nbytes <= l->mtu ? 1 : (uint32_t)((nbytes + l->mtu - 1) / l->mtu);
	k->first = l->packet;
	k->next = l->packet = (l->packet + packets) & PACKET;
}

// Appends a request. Its id is that of the request that completes for it.
static inline void vb_append(struct vb_log *l, const struct vb_request *r,
	const struct vb_sge *data, uint64_t id)
{
	struct kept *k = (struct kept *)l->place;
	uint64_t nbytes = 0;
	// Field by field: what has just been stored in parts cannot be loaded at once.
	k->request.id = id;
	k->request.remote = r->remote;
	k->request.rkey = r->rkey;
	k->request.sges = r->sges;
	k->request.op = r->op;
	k->request.flags = r->flags;
	if (vb_is_atomic(r->op)) {
		k->request.operand = r->operand;
		k->request.swap = r->swap;
	}
	if (r->flags & VB_INLINE) {
		char *to = (char *)(k + 1);
		for (int i = 0; i < r->sges; i++) {
			const void *from = (const void *)(uintptr_t)data[i].addr;
			if (data[i].length == sizeof(uint64_t)) // without a call
				memcpy(to + nbytes, from, sizeof(uint64_t));
			else
				memcpy(to + nbytes, from, data[i].length);
			nbytes += data[i].length;
		}
		k->inlined = (uint32_t)nbytes;
	} else {
		struct vb_sge *to = (struct vb_sge *)(k + 1);
		for (int i = 0; i < r->sges; i++) {
			to[i].addr = data[i].addr;
			to[i].length = data[i].length;
			to[i].lkey = data[i].lkey;
			nbytes += data[i].length;
		}
	}
	vb_number_packets(l, k, nbytes);
	l->count++;
	l->place += l->stride;
	if (l->place == l->end)
		l->place = l->requests;
	__builtin_prefetch(l->place, 1);
	__builtin_prefetch(l->place + LINE, 1);
}

#endif
