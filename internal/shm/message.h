// SPDX-License-Identifier: BSD-3-Clause
// The byte rings of two-sided messages, private to message.c (receives) and send.c (sends).
#ifndef ARMCI_SHM_MESSAGE_H
#define ARMCI_SHM_MESSAGE_H

#include "shm.h"
#include "stream.h"

struct message_header { // precedes a message in a ring
	uint64_t nbytes, total;
	int64_t tag;
	int32_t from, unused; // world rank
};

struct short_message { // as a ring's copy has it
	struct message_header header;
	uint8_t data[SHM_COPIED * sizeof(uint64_t) - sizeof(struct message_header)];
};

// receives what has arrived; called by senders, too, so that no two ranks block each other
void shm_messages_drain(void);
void shm_messages_keep(const struct shm_message *m, const void *buf); // a message to myself
void shm_send_open(void);
void shm_send_reset(void);

static inline struct shm_ring *shm_ring_of(int to, int from)
{
	uint64_t i = (uint64_t)to * (uint64_t)shm.nlocal + (uint64_t)from;
	return (struct shm_ring *)(shm.base + shm.head->ring_off + i * shm.head->ring_bytes);
}

static inline uint64_t shm_room(void) { return shm.head->ring_bytes - sizeof(struct shm_ring); }

static inline void shm_ring_copy(struct shm_ring *r, uint64_t at, void *mem, size_t n, bool write)
{
	uint64_t cap = shm_room(), off = at % cap, first = n < cap - off ? n : cap - off;
	uint8_t *p = mem;
	if (write) {
		shm_stream(r->data + off, p, first);
		shm_stream(r->data, p + first, n - first);
		shm_stream_end();
	} else {
		memcpy(p, r->data + off, first);
		memcpy(p + first, r->data, n - first);
	}
}

#endif
