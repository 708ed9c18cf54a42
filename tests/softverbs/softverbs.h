// SPDX-License-Identifier: BSD-3-Clause
// softverbs.h - what the files of the software verbs device know of each other. A process's objects
// begin with what libibverbs shows of them and point at their part of the segment.
//
// Order of locks: context.table, pair.lock, (another process's or one's own) segment's pair.lock,
// receives.lock, completions.lock. completions.take is taken alone, or before completions.lock.
#ifndef SOFTVERBS_H
#define SOFTVERBS_H

#include "segment.h"

#include <sys/uio.h>

// What the environment asks for: see README.md.
struct settings {
	bool on_demand, reorder, say_open;
	int atomics; // enum ibv_atomic_cap
	long vanish_after, down_after, down_ms, break_after, break_every, never, late;
	int max_pairs, max_regions, max_pieces, max_requests, max_inline, max_receives,
		max_completions;
};
extern struct settings settings;
void settings_read(void);

// Whether this call of ibv_CALL fails, with errno ENOMEM: refuse.c.
void refuse_read(void);
bool refused(const char *call);

struct device {
	struct ibv_device device;
	struct device *next;
	uint16_t lid;
	int link, addresses;
	union ibv_gid address[ADDRESSES];
	bool roce1[ADDRESSES];
};

struct domain {
	struct ibv_pd pd;
	uint32_t number;
};

struct channel {
	struct ibv_comp_channel channel;
	int index, write;
};

struct queue { // of completions
	struct ibv_cq cq;
	pthread_mutex_t take;
	struct completions *shared;
	struct channel *channel;
	uint32_t index;
	uint32_t events, taken; // taken by the application, acknowledged
	uint64_t bytes;
};

struct shared_receives {
	struct ibv_srq srq;
	uint32_t index;
	struct receives *shared;
	uint64_t bytes;
};

// What a request's data is, gathered: it is executed at once, and kept only if it has to wait.
struct request {
	uint64_t id, remote, operand, swap;
	uint32_t key, immediate, posted, pieces;
	int opcode;
	bool signalled, solicited, inlined;
	struct ibv_sge piece[MOST_SGE];
};

#define PACKET 0xffffff // packet numbers have 24 bits

struct peer;

struct queue_pair {
	struct ibv_qp qp;
	pthread_mutex_t lock; // of all that follows
	struct pair *shared;
	struct queue *send, *receive;
	struct shared_receives *srq;
	struct receives *own; // its own receive queue, NULL if it is shared
	uint64_t own_bytes;
	struct ibv_qp_cap cap;
	struct ibv_qp_attr attr;
	bool signal_all;
	struct peer *peer; // that it is connected to, once found
	struct pair *far;
	uint32_t posted;
	_Atomic uint32_t retired; // of those posted: seen by polling
	long executed, breaks_at; // requests since it was connected; and of which it breaks
	uint64_t random;
	// Requests that wait, the first of them for the peer.
	struct request *waiting;
	char *inlined; // data of those, cap.max_inline_data each
	uint32_t first, last;
	_Atomic bool waits;
	int tries, refusals;
	uint64_t next_try;
};

struct context {
	struct segment *segment;
	int process;
	pthread_t thread;
	_Atomic bool closing;
	_Atomic int waiting;       // queue pairs with requests that wait
	pthread_mutex_t table;     // keeps the queue pairs in it alive; also of all tables below
	pthread_mutex_t finding;
	struct peer *_Atomic peer[SEGMENTS];
	struct queue_pair *pair[PAIRS];
	struct queue *queue[QUEUES];
	uint32_t pairs, next_pair, regions, queues, receives, channels; // used so far, highest
	uint32_t free_region, *free_regions, live_regions, live_pairs, serial;
	uint64_t rings, freed[40]; // allocator of rings: end, and a list for each power of two
	_Atomic long executed, completed;
	_Atomic uint64_t up_at; // time in ns when the port comes back; 0: it is up, or stays down
	int events; // asynchronous: written to
	uint32_t domains;
	struct verbs_context verbs; // last, with what libibverbs shows at its end
};

static inline struct context *context_of(struct ibv_context *c)
{
	return (struct context *)((char *)c - offsetof(struct context, verbs.context));
}

// context.c, thread.c
uint64_t now_ns(void);
void *thread_main(void *context);
void thread_wake(struct context *c);
void async_event(struct context *c, enum ibv_event_type type, void *element);
void device_fatal(struct context *c);
void port_down(struct context *c); // comes back as the settings say

// rings.c: room for n bytes, UINT64_MAX with errno if there is none; the caller has the lock of the
// tables
uint64_t rings_take(struct context *c, uint64_t n);
void rings_give(struct context *c, uint64_t at, uint64_t n);
static inline uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;
	while (p < n)
		p *= 2;
	return p;
}

// region.c: whether key allows that at addr; NULL: no
struct region *region_find(struct segment *s, uint32_t key, uint32_t domain, uint64_t addr,
	uint64_t n, uint32_t access);

// peer.c: other processes' segments, and this one's own
struct peer {
	struct segment *segment;
	uint64_t inode;
	struct peer *former; // dead, that had the number before
	bool own;            // of this process
	pthread_mutex_t lock;
	struct mapping *_Atomic mapping[REGIONS];
	int channel[CHANNELS];
	uint64_t channel_inode[CHANNELS];
};
struct peer *peer_find(struct context *c, uint32_t number); // NULL: there is none
void peers_close(struct context *c);
void peer_ring(struct peer *p, const struct completions *c, uint32_t queue);

// mapping.c: where bytes of a peer's region are in this process; NULL: nowhere
char *mapping_at(struct peer *p, const struct region *r, uint64_t addr);
void mappings_free(struct peer *p);

// transfer.c: bytes of the other process: 0, ESRCH if it has died, or another errno value
struct span {
	char *at; // in this process; NULL: nowhere
	uint64_t addr;
	size_t bytes;
};
int transfer(struct peer *p, bool out, const struct iovec *mine, int n, const struct span *theirs,
	int m);
int transfer_atomic(struct peer *p, char *at, uint64_t addr, const struct request *r,
	uint64_t *before);

// completions.c
void complete(struct peer *p, uint32_t queue, const struct completion *done, bool solicited);
// The same with a message of n pieces, which the process that polls copies to done->to.
void complete_staged(struct peer *p, uint32_t queue, const struct completion *done, bool solicited,
	const struct iovec *mine, int n);
void completions_purge(struct queue *q, uint32_t pair);
int poll_queue(struct ibv_cq *cq, int n, struct ibv_wc *out);
int arm_queue(struct ibv_cq *cq, int solicited_only);
void ring_late(struct context *c, uint64_t now, uint64_t *next);

// receives.c
struct received {
	uint64_t id;
	int spans;
	struct span span[MOST_SGE];
};
enum { NO_RECEIVE = -1, NO_ANSWER = -2 }; // besides enum ibv_wc_status
int receive_take(struct peer *p, struct pair *at, size_t bytes, struct received *out);
int receives_open(struct context *c, uint32_t *index, uint32_t n, uint32_t pieces, uint32_t domain,
	uint64_t *bytes);
void receives_close(struct context *c, uint32_t index, uint64_t bytes);
void receives_flush(struct context *c, struct queue_pair *q);
int post_srq_receive(struct ibv_srq *srq, struct ibv_recv_wr *w, struct ibv_recv_wr **bad);
int post_receive(struct ibv_qp *qp, struct ibv_recv_wr *w, struct ibv_recv_wr **bad);

// remote.c: what a request does at the peer: a status, or why not yet. q is locked
int execute(struct queue_pair *q, const struct request *r, const struct iovec *mine, int n,
	size_t bytes);

// datagram.c
int send_datagram(struct queue_pair *q, struct ibv_ah *ah, uint32_t number, uint32_t key,
	const struct request *r, const struct iovec *mine, int n, size_t bytes);
bool path_leads_to(const struct path *path, const struct segment *s);

// send.c
int post_send(struct ibv_qp *qp, struct ibv_send_wr *w, struct ibv_send_wr **bad);
void send_progress(struct context *c, struct queue_pair *q, bool timer, uint64_t *next);
void send_flush(struct context *c, struct queue_pair *q);
void progress(struct context *c, bool timer, uint64_t *next);

#endif
