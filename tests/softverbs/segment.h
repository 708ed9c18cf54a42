// SPDX-License-Identifier: BSD-3-Clause
// segment.h - what the processes of a machine share: each open device has a segment, a file in
// SOFTVERBS_DIR that all others may map. Its owner makes and destroys the objects in it; others
// look up memory regions, take receive requests and add completions. Locks are robust: a process
// that dies with one does not block others. Objects refer to each other by index.
#ifndef SEGMENT_H
#define SEGMENT_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	INDEX_BITS = 12, // a queue pair's number is the number of its segment and its index there
	SEGMENTS = 1 << 12,
	PAIRS = 1 << INDEX_BITS,
	REGIONS = 1 << 16,
	QUEUES = 1 << 10, // completion queues
	RECEIVES = PAIRS + QUEUES,
	CHANNELS = QUEUES,
	ADDRESSES = 8, // GIDs
	KEY_BITS = 8,  // a key is the index of a region and so many bits of a counter
	MOST_SGE = 32,
	MOST_INLINE = 512,
	STAGE_BYTES = 8320, // of a message that is copied by the process that polls
	STAGES = 1 << 12,   // entries of a completion queue that has stages, at most
};

#define RINGS_BYTES ((uint64_t)512 << 20) // room for rings; a hole until it is used

// A memory region. Its owner sets key last, and ends it by 0, first.
struct region {
	_Atomic uint32_t key; // of both uses, local and remote
	uint32_t domain, access, serial;
	uint64_t addr, length;
};

struct recv_request {
	uint64_t id;
	uint32_t pieces, unused;
	struct ibv_sge piece[];
};

// A receive queue, shared or of one queue pair.
struct receives {
	pthread_mutex_t lock;
	uint32_t head, tail, size, pieces, domain; // counters; size is a power of two
	uint64_t ring;
};

struct completion {
	struct ibv_wc wc;
	uint64_t visible; // time in ns; before that it is not seen
	// of a send request: how many its queue pair had been given, this included
	uint32_t posted;
	bool sent;        // it is of a send request
	uint32_t staged;  // bytes of a message that are to be copied
	uint64_t to;      // there, when it is polled
};

// A completion queue. A thread that adds has the lock; one that takes is of the owner's process and
// has a lock there.
struct completions {
	pthread_mutex_t lock;
	_Atomic uint32_t head, tail, armed; // armed: 0, or ARMED_ALL, ARMED_SOLICITED
	uint32_t size, serial;
	int32_t channel; // index, -1: none
	bool overrun;
	_Atomic uint64_t late; // time of an event that the owner's thread must tell; 0: none
	uint64_t ring;
};

enum { ARMED_ALL = 1, ARMED_SOLICITED = 2 };

// A completion channel: a pipe of struct event.
struct pipe_end {
	_Atomic int32_t fd; // that is written to, in the owner's process; 0: none
	uint64_t inode;
};

struct event {
	uint32_t queue, serial;
};

struct path {
	union ibv_gid gid;
	uint16_t lid;
	bool global;
};

// A queue pair, as others see it. A sender to it has the lock all the time that takes; so an owner
// that takes the lock and releases it knows that what it removed before is out of use.
struct pair {
	pthread_mutex_t lock;
	_Atomic int state;   // enum ibv_qp_state
	_Atomic bool failed; // by another process: the owner's thread has to flush, and to tell
	uint32_t number, peer, access, domain, receives, completions, key, first_packet;
	uint32_t expected; // the next packet from the peer
	uint32_t rnr_timer;
	bool used, datagrams;
	struct path path; // to the peer
};

struct segment {
	uint32_t magic, number;
	int32_t pid;
	pthread_mutex_t life;        // the owner's thread holds it as long as the process lives
	pthread_mutex_t atomics;     // of atomics on memory that is not mapped
	_Atomic uint32_t bell;       // futex that wakes the owner's thread
	_Atomic bool failed;         // some queue pair is marked so
	_Atomic bool vanished, down; // the device, its port
	uint16_t lid;
	int addresses;
	union ibv_gid address[ADDRESSES];
	struct pipe_end channel[CHANNELS];
	struct completions completions[QUEUES];
	struct receives receives[RECEIVES];
	struct pair pair[PAIRS];
	struct region region[REGIONS];
	char rings[] __attribute__((aligned(4096)));
};

static inline struct recv_request *recv_request(struct segment *s, const struct receives *r,
	uint32_t i)
{
	size_t each = sizeof(struct recv_request) + r->pieces * sizeof(struct ibv_sge);
	return (struct recv_request *)(s->rings + r->ring + (i & (r->size - 1)) * each);
}

static inline struct completion *completion(struct segment *s, const struct completions *c,
	uint32_t i)
{
	return (struct completion *)(s->rings + c->ring) + (i & (c->size - 1));
}

// Where the message of a completion is until it is polled; NULL: the queue has no such room.
static inline char *stage(struct segment *s, const struct completions *c, uint32_t i)
{
	if (c->size > STAGES)
		return NULL;
	return (char *)completion(s, c, 0) + c->size * sizeof(struct completion) +
	       (uint64_t)(i & (c->size - 1)) * STAGE_BYTES;
}

// The word of a mutex is the number of the thread that has it: none where that has died.
static inline int life_thread(struct segment *s)
{
	enum { THREAD = 0x3fffffff };
	return *(volatile int *)&s->life & THREAD;
}

static inline bool alive(struct segment *s)
{
	return life_thread(s) != 0 && !atomic_load_explicit(&s->vanished, memory_order_relaxed);
}

void shared_mutex(pthread_mutex_t *m); // makes one
void shared_lock(pthread_mutex_t *m);
static inline void shared_unlock(pthread_mutex_t *m) { pthread_mutex_unlock(m); }

// A new segment, which others find once it is published. NULL with errno.
struct segment *segment_new(void);
int segment_publish(struct segment *s);
void segment_remove(struct segment *s);       // it is not found anymore
void segment_unmap(struct segment *s);
struct segment *segment_open(uint32_t number, uint64_t *inode); // NULL: there is none
uint64_t segment_inode(uint32_t number);      // 0: there is none
void segment_ring(struct segment *s);         // wakes the owner's thread

#endif
