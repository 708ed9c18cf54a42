// SPDX-License-Identifier: BSD-3-Clause
// The control block at the start of a node's arena, and the operations on it. All ranks of the node
// map it at the same address. It implements no rule of ARMCI, never prints, and never reports a
// user's mistake: callers have checked their arguments.
#ifndef ARMCI_SHM_H
#define ARMCI_SHM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../kernel/cpu.h"
#include "../wait/wait.h"
#define SHM_MAGIC   0x31306d7249434d52ull // "RMCIrm01" little-endian
#define SHM_VERSION 9u
#define SHM_LINE    64
#define SHM_ALIGNED _Alignas(SHM_LINE)
#define SHM_RANGES  64
#define SHM_CPUS    1024 // as many as the kernel's CPU set has
typedef _Atomic uint32_t shm_u32;
typedef _Atomic uint64_t shm_u64;

// Layout of the arena: offsets from its base, each part on a page of its own.
//
//   0            struct shm_head
//   rank_off     struct shm_rank [nlocal]: one per rank of the node
//   stripe_off   lines [stripes]: accumulate locks, a word or two a line (kernel.h)
//   notify_off   uint32 [nlocal target][world source]: notify counters of ranks of the job
//                uint32 [nlocal source][world target]: counts that a device was asked to write
//                uint32 [nlocal source][world target]: marks of waiters for these (record.h)
//   region_off   struct shm_region [nlocal][region_cap]: live allocations and exposed memory of
//                each rank, sorted by lo
//   ring_off     struct shm_ring [nlocal receiver][nlocal sender], each ring_bytes long
//   context_off  struct shm_context [contexts], each context_bytes long: barriers and collectives
//   request_off  struct shm_request_slot [nlocal]: requests to a rank to copy private memory
//   slice_off    bytes [nlocal][slice_bytes]: the memory that ranks allocate from
//
// All of it is sparse: a page costs memory once it is touched. The parts before slice_off are one
// memory file, each rank's slice is another. The rest behind the last slice is not accessible.
struct shm_region { shm_u64 lo, hi; }; // addresses [lo, hi)

// The head of the control block. The leader writes it before the other ranks attach; only the lines
// from dead on change afterwards.
struct shm_head {
	uint64_t magic;             // SHM_MAGIC
	uint32_t version, nlocal;   // SHM_VERSION; ranks of the node
	uint64_t arena_bytes, slice_off, slice_bytes;
	uint64_t rank_off, stripe_off, notify_off, region_off, ring_off, context_off, request_off;
	uint64_t region_cap;        // entries of a region table
	uint64_t ring_bytes;        // of a message ring, struct shm_ring included
	uint64_t context_bytes;     // of a collective context, bulk slots included
	uint32_t stripes, contexts; // accumulate locks; collective contexts
	uint32_t world;             // ranks of the job
	uint32_t device;            // 1: network devices take accumulate locks, too
	uint64_t bulk_bytes;        // of a bulk slot of a context: at most SHM_BULK
	uint64_t wake;              // cost of a sleep and a wake-up on this machine, ns
	// 1 + the local rank that has claimed the report of the job's end, by compare-and-swap;
	// 0: none has
	SHM_ALIGNED shm_u32 dead;
	shm_u32 departed;           // number of ranks that are not SHM_HERE
	SHM_ALIGNED shm_u64 context_used[64]; // bit set: collective context in use (4096 at most)
	SHM_ALIGNED shm_u32 declared;         // entries of ranges in use
	// memory of which only devices change a long atomically; a range is never removed
	struct shm_region ranges[SHM_RANGES];
};

// A lock that names its owner. A rank that finds it taken waits in a queue. Newcomers may pass the
// queue, a bounded number of them while its head is awake, for a bounded time while the head is not
// (lock.c).
struct shm_mutex {
	SHM_ALIGNED shm_u32 owner; // 0 free, else 1 + world rank
	shm_u32 next, serving;     // tickets of the queue; equal: the queue is empty
	// newcomers that have passed the queue since its head last got the lock; written by the
	// owner
	shm_u32 barged;
	shm_u32 head_paused;       // 1: the head is not known to be running
	// 1: the head sleeps on this word; an unlock sets it to 0 and wakes it
	shm_u32 head_asleep;
	shm_u32 sleepers;          // waiters behind the head asleep on serving
	shm_u32 head_is_remote;               // 1: the head waits for a rank of another node
	// when a newcomer first looked at the clock for this head, ns; 0 before
	shm_u64 since;
};

// How far a rank has left the job, and what other ranks may still wait for.
enum shm_departure {
	SHM_HERE,      // it takes part in everything
	SHM_ENDING,    // it only enters the barrier of all ranks, in order to finalise
	SHM_FINALISED, // it has finalised and does nothing any more
	SHM_EXITED,    // it has exited with status 0 without finalising
	SHM_WITHDRAWN, // SHM_EXITED, and its memory has been withdrawn
};

// One rank. Its first cache line is written by its allocations, the second by ranks that wake it,
// the third at its start and end.
struct shm_rank {
	SHM_ALIGNED shm_u64 gen; // seqlock of its region table: odd while it is being changed
	shm_u32 nregion;
	SHM_ALIGNED shm_u32 wake_word; // futex: bumped to wake the rank
	shm_u32 sleepers;         // threads of the rank asleep on wake_word
	shm_u32 watchers;         // of the sleepers, those in shm_wait_until
	shm_u64 woken_at;             // when a rank last began to wake it, ns
	SHM_ALIGNED int32_t world, pid;
	shm_u32 departure;          // enum shm_departure
	shm_u32 exposes;            // 1: it has exposed private memory
	// 1 + the CPU on which it was when it last had to wait; 0: not known
	shm_u32 cpu;
	// An address in its private memory, and the value there. A process that reads the value at
	// the address of process pid has found this rank, not one of another pid namespace.
	uint64_t witness_at, witness;
	uint64_t cpus[SHM_CPUS / 64]; // the CPUs it may run on
	struct shm_mutex own; // a mutex of its own (ARMCI_Gpc_lock)
};

struct shm_visit; // receive.h

// This process's view of its node. Zero until shm_attach.
struct shm_view {
	uint8_t *base;
	struct shm_head *head;
	struct shm_rank *rank;
	uint64_t bytes;
	int me, nlocal;
	// of waits for ranks of the node; of waits that a rank of another node may end
	struct wait_policy policy, remote_policy;
	// Ends the job: a waiter calls it that waits in vain for local rank peer in call what.
	void (*stuck)(const char *what, int peer);
	void (*no_memory)(const char *what); // ends the job
	// The functions of transport.Incoming, which a waiter for other nodes calls with its own
	// visit; NULL: it may not receive.
	int (*receive)(struct shm_visit *visit);
	void (*leave)(struct shm_visit *visit, bool found);
	uint64_t receive_after; // ns for which a waiter looks at memory only
	int sleep_in; // an epoll in which a waiter that receives may sleep; -1: there is none
	int wake_fd;  // an eventfd that wakes a thread that sleeps there
};
extern struct shm_view shm;

// shm_crowded reports whether the node has more ranks than cores.
static inline bool shm_crowded(void) { return shm.policy.spin <= WAIT_CROWDED_SPIN; }

// shm_format writes the control block to new, zeroed memory.
void shm_format(void *base, struct shm_head *plan);
// shm_plan computes the layout of an arena for nlocal of the job's world ranks. It returns the
// bytes of the control block; 0: the arena is too small.
uint64_t shm_plan(struct shm_head *plan, uint64_t arena_bytes, uint32_t nlocal, uint32_t world);
// shm_attach sets this process's view: 0; -1: base is no control block of this version; -2: memory.
int shm_attach(void *base, int me, int world, int pid);
void shm_detach(void);
int shm_local_of(int world); // local number of a world rank; -1 if it is not of this node

/* regions -------------------------------------------------------------------------------------- */
// A region as shm_find has read it; gen: generation of the table then (shm_gen).
struct shm_found {
	uint64_t lo, hi, gen;
};
// shm_find returns the live region of local rank `local` that contains addr; false: there is none.
bool shm_find(int local, uint64_t addr, struct shm_found *out);
// shm_region_add adds a region to this rank's table; -1: the table is full. The caller serialises
// changes of the table.
int shm_region_add(uint64_t lo, uint64_t hi);
int shm_region_drop(uint64_t lo); // -1: no region of this rank begins there
// shm_region_replace replaces this rank's regions within [lo, hi) by n others, pairs of lo and hi,
// in one change that readers see at once. -1: the table is full, and nothing has changed.
int shm_region_replace(uint64_t lo, uint64_t hi, const uint64_t *pairs, uint32_t n);
// shm_withdraw_rank empties the table of a rank that has exited. Other ranks call it.
void shm_withdraw_rank(int local);
static inline shm_u64 *shm_gen(int local) { return &shm.rank[local].gen; }

/* private memory of other processes ------------------------------------------------------------ */
#include "foreign.h"

/* waiting -------------------------------------------------------------------------------------- */
static inline struct wait_policy *shm_policy(enum wait_place place)
{
	return place == WAIT_FARAWAY ? &shm.remote_policy : &shm.policy;
}
// shm_wait polls cond, yields the core, then sleeps on the rank's wake_word (package wait). A
// thread that makes cond true calls shm_wake_rank next. what names the call that waits, for the
// report of a wait that can never end. peer is the local rank that ends the wait, or:
enum {
	SHM_ANY = -1,    // any rank
	SHM_REMOTE = -2, // a rank of another node
	SHM_SENDER = -3, // a rank of another node, by a message, which no device writes
};
typedef wait_cond shm_cond;
void shm_wait(shm_cond cond, void *arg, const char *what, int peer);
// shm_poll is shm_wait that returns false before it sleeps. The caller may sleep in another way,
// then calls shm_wait_woken.
bool shm_poll(struct wait *w, shm_cond cond, void *arg, int peer);
// shm_wait_woken ends a wait in which the caller has slept. woken_at: the time, ns, at which the
// waker began to wake it; 0: not known.
void shm_wait_woken(struct wait *w, uint64_t woken_at);
// shm_wait_begin starts a wait for a local rank in which the caller polls by itself.
void shm_wait_begin(struct wait *w, int peer);
// shm_wake_rank wakes local rank `local` if it sleeps, behind a full fence. It is called after a
// store that may end a wait of that rank.
void shm_wake_rank(int local);
// shm_has_left reports whether local rank `peer` will never do what the caller waits for. last: the
// caller waits for the barrier of all ranks. If true, the caller checks its condition once more,
// since the rank may have met it as its last act, then calls shm.stuck.
bool shm_has_left(int peer, bool last);
// shm_departed_peer returns the local rank that has left, so that waiting for local rank `peer`
// (SHM_ANY: any rank of the job) is in vain; -1: the wait can still end. The caller goes on as for
// shm_has_left.
int shm_departed_peer(int peer);
// shm_lost_slices reports whether this process has lately lost time slices by yielding.
bool shm_lost_slices(void);
/* mutexes -------------------------------------------------------------------------------------- */
void shm_lock_slow(struct shm_mutex *m, uint32_t owner);
// shm_lock_soon waits for some microseconds at most. If false, the caller is in the queue and must
// call shm_lock_queued with the ticket.
bool shm_lock_soon(struct shm_mutex *m, uint32_t owner, uint32_t *ticket);
void shm_lock_queued(struct shm_mutex *m, uint32_t owner, uint32_t ticket);
bool shm_trylock(struct shm_mutex *m, uint32_t owner);
void shm_unlock_slow(struct shm_mutex *m);
static inline void shm_lock(struct shm_mutex *m, uint32_t owner)
{
	// seq_cst: a writer of a shm_rwlock takes the gate by this and then looks for readers
	uint32_t none = 0;
	if (atomic_load_explicit(&m->next, memory_order_relaxed) !=
			atomic_load_explicit(&m->serving, memory_order_relaxed) ||
		!atomic_compare_exchange_strong_explicit(&m->owner, &none, owner,
			memory_order_seq_cst, memory_order_relaxed))
		shm_lock_slow(m, owner);
}
// shm_pass_on makes `to` the owner. Its owner calls it. False: a rank is in the queue.
bool shm_pass_on(struct shm_mutex *m, uint32_t to);
static inline void shm_unlock(struct shm_mutex *m)
{
	atomic_exchange_explicit(&m->owner, 0, memory_order_seq_cst);
	// in one order with the head's store and load
	if (atomic_load_explicit(&m->head_asleep, memory_order_seq_cst))
		shm_unlock_slow(m);
}

/* reader/writer locks, events, and waiters that receive ---------------------------------------- */
#include "rwlock.h"
#include "event.h"
#include "record.h"
#include "receive.h"
#include "until.h"

/* teams: the members of a group on this node --------------------------------------------------- */
// members up to which a barrier is a flag each instead of a counter
#define SHM_FLAGS       8
#define SHM_SMALL       256u          // most bytes that a member publishes in one small step
#define SHM_SMALL_SLOTS 8u
// most bytes that a member publishes in one bulk step; fewer in a small arena
#define SHM_BULK        (256u << 10)
// bulk slots of a member; only long transfers use all of them, so that the others stay in the cache
#define SHM_BULK_SLOTS  8u

// A small slot contains the number of its step, so that up to 56 bytes arrive in the line that
// announces them.
struct shm_slot {
	SHM_ALIGNED shm_u64 step;
	uint8_t data[SHM_SMALL];
};
// The words and slots of one member, which only that member writes.
struct shm_member {
	// last barrier this member has reached, in teams of up to SHM_FLAGS
	SHM_ALIGNED shm_u64 phase;
	SHM_ALIGNED shm_u64 published; // last bulk step this member has published
	// 1: when it began its last long reduction, it had lately lost time slices
	shm_u32 crowded;
	SHM_ALIGNED shm_u64 finished;  // last step this member has finished
	struct shm_slot small[SHM_SMALL_SLOTS];
};
// A collective context: the memory that the members of a team share.
struct shm_context {
	// members that have entered the current barrier, in teams of more than SHM_FLAGS
	SHM_ALIGNED shm_u32 arrived;
	SHM_ALIGNED shm_u64 phase; // barriers completed, in teams of more than SHM_FLAGS
	shm_u32 event;             // futex, bumped when a member that sleeps may have to wake
	shm_u32 sleepers;          // members that sleep on event
	shm_u64 woken_at;          // when event was last bumped, ns
	SHM_ALIGNED struct shm_member member[];
	// behind member[nlocal]: bulk slots, nlocal x SHM_BULK_SLOTS x bulk_bytes
};
// A process's own state of a team; one collective at a time per team and process.
struct shm_team {
	struct shm_context *context;
	uint8_t *bulk;           // bulk slots of the context
	size_t bulk_bytes;       // of a bulk slot
	int n, me;               // members; number of this process among them
	int id;                  // of the context
	int *local;              // local numbers of the members, malloc'ed
	uint64_t phase;          // barriers that this member has entered
	uint64_t step;           // steps that this member has begun
	uint64_t known_finished; // a step that all members are known to have finished
	uint64_t bulk_uses;      // bulk slots used so far
	// a bulk slot may be overwritten once every member has finished this step
	uint64_t bulk_busy_until[SHM_BULK_SLOTS];
	uint8_t *gather_buf;     // of Go: SHM_SMALL bytes for it and each member, malloc'ed
	struct shm_team *next;   // of all teams of the process
};
int shm_context_alloc(void);   // a free context, -1 when none is left
void shm_context_free(int id); // by one process, after a barrier of the members
// shm_context_start returns the counters from which the members of a new team start. The process
// that has allocated the context calls it.
void shm_context_start(int id, uint64_t *phase, uint64_t *step);
// shm_team_new returns room for a team of up to n members; NULL: no memory. shm_team_detach frees
// it.
struct shm_team *shm_team_new(int n);
// shm_team_reserve makes room for one more team of all ranks, which shm_team_spare returns from
// then on; false: no memory. shm_team_detach keeps it. One team at a time may use it.
bool shm_team_reserve(void);
struct shm_team *shm_team_spare(void);
// shm_team_attach attaches this process as member `me` to a team of n, with the counters of
// shm_context_start.
void shm_team_attach(struct shm_team *h, int id, int n, const int *local, int me, uint64_t phase,
	uint64_t step);
void shm_team_detach(struct shm_team *h);
void shm_barrier(struct shm_team *h);
void shm_bcast(struct shm_team *h, void *buf, size_t nbytes, int root);
// shm_allgather gathers nbytes <= SHM_SMALL of each member, in team order.
void shm_allgather(struct shm_team *h, const void *mine, size_t nbytes, void *all);
// shm_allreduce reduces x in place; type is a k_type, red a k_red.
void shm_allreduce(struct shm_team *h, void *x, size_t nelem, int type, int red);

/* messages ------------------------------------------------------------------------------------- */
// One ring per ordered pair of processes. A message from another node travels in the ring of the
// process that delivers it, so each message names its source.
#define SHM_RING_BYTES (64u << 10) // at most; less only in a job on one node
#define SHM_COPIED 6 // words of the copy of a short message beside head, header included
struct shm_ring {
	SHM_ALIGNED shm_u64 head; // bytes written, by the sender
	shm_u64 copied;           // head behind the message in copy; 0: copy is being changed
	// The last message, if short: a receiver that has read all earlier ones reads it here,
	// which saves the transfer of a line.
	shm_u64 copy[SHM_COPIED];
	SHM_ALIGNED shm_u64 tail; // bytes read, by the receiver
	SHM_ALIGNED uint8_t data[];
};
// A message, or the first part of one of a rank of another node.
struct shm_message {
	int from; // world rank
	int64_t tag;
	// nbytes: of this part; total: of the message, whose other parts travel another way
	size_t nbytes, total;
};
void shm_send(int to, int64_t tag, const void *buf, size_t nbytes); // from this rank to a local one
// shm_deliver is shm_send on behalf of any rank. Without `wait` it returns false if the ring has no
// room, or another thread is sending there.
bool shm_deliver(int to, const struct shm_message *m, const void *buf, bool wait);
// shm_deliver_next is shm_deliver without wait, for C. It refuses while messages are queued for
// room in Go, which it must not overtake.
bool shm_deliver_next(int to, const struct shm_message *m, const void *buf);
void shm_set_backlogged(int to, bool yes);
// shm_recv receives the oldest message with m->tag from world rank m->from (-1: any), and sets the
// other fields of *m. -1: the message has more than cap bytes in total, and remains to be received.
int shm_recv(struct shm_message *m, void *buf, size_t cap);
// shm_recv_whole is shm_recv, but returns -1 also for a message with parts that travel another way.
int shm_recv_whole(struct shm_message *m, void *buf, size_t cap);
bool shm_arrived(int from, int64_t tag); // would shm_recv return at once?
bool shm_messages_open(void); // false: no memory
void shm_messages_reset(void); // frees messages that were never received

/* notify --------------------------------------------------------------------------------------- */
// shm_notify adds one to the counter of world rank `from` at local rank `to`, wakes that rank, and
// returns the counter.
uint32_t shm_notify(int to, int from);
const void *shm_counters(uint64_t *bytes); // of all local ranks: [nlocal target][world source]
uint64_t shm_notify_bytes(uint64_t nlocal, uint64_t world);
// shm_notify_wait waits until the counter of world rank `from` is at least want (modulo 2^32), and
// returns it.
uint32_t shm_notify_wait(int from, uint32_t want);
// shm_notify_soon is the same without sleeping; false: the count is not reached yet, and the caller
// waits on, receiving from other nodes if need be.
bool shm_notify_soon(int from, uint32_t want, uint32_t *got);
// shm_notify_poll polls and receives until the count is reached; false: it is time to sleep.
bool shm_notify_poll(int from, uint32_t want);
// A device may write a counter, and wakes no waiter (record.h). shm_notify_sent records the count
// that a device was asked to write at world rank `to`; true: that rank has left a mark, and the
// caller must send it the count.
bool shm_notify_sent(int to, uint32_t count);
// shm_notify_ask leaves the mark of world rank `by` at local rank `local`. True: the count `want`
// has already been written, and the caller must send it to `by`.
bool shm_notify_ask(int local, int by, uint32_t want);
// shm_notified wakes a local rank if its counter of `from` has reached want; else it returns false.
bool shm_notified(int local, int from, uint32_t want);

/* threads -------------------------------------------------------------------------------------- */
// shm_unbind lets the calling thread run on every CPU that its control group allows; 0 or an errno.
int shm_unbind(void);

/* memory for device atomics, accumulate locks -------------------------------------------------- */
// shm_declare adds a range of which only devices change a long atomically; false: there are too
// many. It returns before another rank can know the memory.
bool shm_declare(uint64_t lo, uint64_t hi);
bool shm_declared(uint64_t addr, struct shm_region *out);
static inline bool shm_any_declared(void)
{
	return atomic_load_explicit(&shm.head->declared, memory_order_relaxed) != 0;
}
static inline shm_u32 *shm_stripes(void) { return (shm_u32 *)(shm.base + shm.head->stripe_off); }

#endif
