// SPDX-License-Identifier: BSD-3-Clause
// The byte rings of two-sided messages, private to message.c (receives) and send.c (sends).
#ifndef ARMCI_SHM_MESSAGE_H
#define ARMCI_SHM_MESSAGE_H

#include "shm.h"
#include "stream.h"

// The header of a message in a ring; nbytes of data follow.
struct message_header {
	uint64_t nbytes, total; // of struct shm_message
	int64_t tag;
	int32_t from; // world rank
	int32_t unused;
};

// A message that fits into the copy beside a ring's head.
struct short_message {
	struct message_header header;
	uint8_t data[SHM_COPIED * sizeof(uint64_t) - sizeof(struct message_header)];
};

// shm_messages_drain moves all arrived messages from the rings to private memory. Senders that find
// no room call it, too, so that no two ranks block each other.
void shm_messages_drain(void);
// shm_queue_own_message queues a message of this rank to itself.
void shm_queue_own_message(const struct shm_message *m, const void *buf);
bool shm_send_open(void);
void shm_send_reset(void);

static inline struct shm_ring *shm_ring_of(int to, int from)
{
	uint64_t i = (uint64_t)to * (uint64_t)shm.nlocal + (uint64_t)from;
	return (struct shm_ring *)(shm.base + shm.head->ring_off + i * shm.head->ring_bytes);
}

// shm_ring_capacity returns the data bytes of a ring.
static inline uint64_t shm_ring_capacity(void)
{
	return shm.head->ring_bytes - sizeof(struct shm_ring);
}

// shm_ring_copy copies n bytes between mem and position `at` of a ring, which may wrap around.
static inline void shm_ring_copy(struct shm_ring *r, uint64_t at, void *mem, size_t n, bool write)
{
	uint64_t cap = shm_ring_capacity(), off = at % cap, first = n < cap - off ? n : cap - off;
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
