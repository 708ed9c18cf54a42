// SPDX-License-Identifier: BSD-3-Clause
// The control block at the start of a node's arena, and the operations on it that ranks of one node
// share. Everything here works on memory that all ranks of the node map at the same address. It
// knows no rule of ARMCI, never prints, and never reports a user's mistake: callers have checked
// their arguments.
#ifndef ARMCI_SHM_H
#define ARMCI_SHM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../kernel/cpu.h"
#include "../wait/wait.h"
#define SHM_MAGIC   0x31306d7249434d52ull // "RMCIrm01" little-endian
#define SHM_VERSION 8u
#define SHM_LINE    64
#define SHM_ALIGNED _Alignas(SHM_LINE)
#define SHM_RANGES  64
#define SHM_CPUS    1024 // as many as the kernel's CPU set has
typedef _Atomic uint32_t shm_u32;
typedef _Atomic uint64_t shm_u64;

/* Layout of the arena (offsets from its base; every part starts on a page):
 *
 *   0            struct shm_head
 *   rank_off     struct shm_rank [nlocal]                     one per rank of the node
 *   stripe_off   lines [stripes]                              accumulate locks, a word or two a
 * line (kernel.h) notify_off   uint32 [nlocal target][world source]         notify counters; a
 * source may be of another node uint32 [nlocal source][world target]         how often a device has
 * notified each; the same: who asks to be told region_off   struct shm_region [nlocal][region_cap]
 * live allocations and exposed memory of each rank, sorted by lo ring_off     struct shm_ring
 * [nlocal dst][nlocal src]     message rings, each ring_bytes long context_off  contexts, each
 * context_bytes long            barriers and collectives of teams (struct shm_context) desk_off
 * struct shm_desk [nlocal]                     how a rank is asked to copy its private memory
 *   slice_off    bytes [nlocal][slice_bytes]                  the memory ranks allocate from
 *
 * All of it is sparse: a page costs memory once it is touched. What lies before slice_off is one
 * memory file, each rank's slice another; what is left behind the last slice cannot be accessed. */
struct shm_region { shm_u64 lo, hi; }; // addresses [lo, hi)

struct shm_head {
	uint64_t magic;
	uint32_t version, nlocal;
	uint64_t arena_bytes, slice_off, slice_bytes;
	uint64_t rank_off, stripe_off, notify_off, region_off, ring_off, context_off, desk_off;
	uint64_t region_cap, ring_bytes, context_bytes;
	uint32_t stripes, contexts, world; // world: ranks of the job
	uint32_t device;            // 1: network devices take accumulate locks, too
	uint64_t bulk_bytes;        // of a bulk slot of a context: at most SHM_BULK
	uint64_t wake;              // what sleeping and being woken costs on this machine, ns
	// 0, or 1 + local index of the rank whose end is being reported: claimed by
	// compare-and-swap
	SHM_ALIGNED shm_u32 dead;
	shm_u32 departed;           // ranks that are not SHM_HERE
	SHM_ALIGNED shm_u64 context_used[64]; // bit set: collective context in use (4096 at most)
	SHM_ALIGNED shm_u32 declared;      // how many of these there are
	// memory whose longs only devices change atomically: never taken back
	struct shm_region ranges[SHM_RANGES];
};

// A lock that names its owner. A rank that finds it taken waits in a queue. Newcomers may pass the
// queue: only so often while its head is awake, and only for so long while it is not (lock.c).
struct shm_mutex {
	SHM_ALIGNED shm_u32 owner; // 0 free, else 1 + world rank
	shm_u32 next, serving;     // tickets of the queue; equal: the queue is empty
	// newcomers that have passed the queue since its head last got the lock; written by the
	// owner
	shm_u32 barged;
	shm_u32 dozing;            // 1: the head is not known to be running
	// 1: the head sleeps on this word; an unlock sets it to 0 and wakes it
	shm_u32 asleep;
	shm_u32 sleepers;          // waiters behind the head asleep on serving
	shm_u32 far;               // 1: the head waits for a rank of another node
	// when a newcomer first looked at the clock for this head, ns; 0 before
	shm_u64 since;
};

// What other ranks may still expect of a rank. SHM_ENDING: that it enters the barrier of all ranks,
// in order to finalise, and nothing else.
enum shm_left {
	SHM_HERE,
	SHM_ENDING,
	SHM_FINALISED,
	SHM_EXITED,    // status 0, not finalised
	SHM_WITHDRAWN, // the same, and its memory has been withdrawn
};

// One rank. Line 1 is written at allocation only, line 2 by ranks that wake it, line 3 at start and
// end.
struct shm_rank {
	SHM_ALIGNED shm_u64 gen; // seqlock of its region table: odd while it is being changed
	shm_u32 nregion;
	SHM_ALIGNED shm_u32 bell; // futex: bumped to wake the rank
	shm_u32 sleepers;         // threads of the rank asleep on bell
	shm_u64 rung;             // when a rank last began to wake it, ns
	SHM_ALIGNED int32_t world, pid;
	shm_u32 left;               // enum shm_left
	shm_u32 exposes;            // 1: it has exposed private memory
	// 1 + the CPU on which it was when it last had to wait; 0: not known
	shm_u32 cpu;
	// an address in its own memory, and what is there: who reads that has the right process
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
	// of waits for ranks of the node; that a rank of another node may end
	struct wait_policy policy, far;
	void (*stuck)(const char *what,
		int peer); // by a sleeping waiter that waits in vain for a local rank; ends the job
	// Of transport.Incoming, by a waiter for other nodes; NULL: it cannot. visit is its own.
	int (*receive)(struct shm_visit *visit);
	void (*leave)(struct shm_visit *visit, bool found);
	uint64_t receive_after; // ns for which a waiter looks at memory only
	int sleep_in; // an epoll in which a waiter that receives may sleep; -1: there is none
	int wake_fd;  // an eventfd that ends that
};
extern struct shm_view shm;

// more ranks than cores
static inline bool shm_crowded(void) { return shm.policy.spin <= WAIT_CROWDED_SPIN; }

void shm_format(void *base,
	struct shm_head *plan); // formats the control block in new, zeroed memory
// Fill the layout for nlocal of the job's world ranks. 0 if the arena is too small, else bytes of
// control block.
uint64_t shm_plan(struct shm_head *plan, uint64_t arena_bytes, uint32_t nlocal, uint32_t world);
// 0, or -1 if not a control block of this version
int shm_attach(void *base, int me, int world, int pid);
void shm_detach(void);
int shm_local_of(int world); // local number of a world rank; -1 if it is not of this node

/* regions -------------------------------------------------------------------------------------- */
struct shm_found {
	uint64_t lo, hi, gen;
};
// the live region of rank `local` that holds addr
bool shm_find(int local, uint64_t addr, struct shm_found *out);
// to my own table; one thread at a time. -1: table full
int shm_region_add(uint64_t lo, uint64_t hi);
int shm_region_drop(uint64_t lo); // -1: no region of mine starts there
// Replaces my regions within [lo, hi) by n others, pairs of lo and hi, in one change. -1: table
// full, and nothing has changed.
int shm_region_replace(uint64_t lo, uint64_t hi, const uint64_t *pairs, uint32_t n);
// empties the table of a rank that has exited; called by other ranks
void shm_withdraw_rank(int local);
static inline shm_u64 *shm_gen(int local) { return &shm.rank[local].gen; }

/* private memory of other processes ------------------------------------------------------------ */
// A piece of a transfer: contiguous on both sides. It is kernel.Run.
struct shm_run {
	uintptr_t mine, theirs;
	int64_t bytes;
};
#define SHM_DESK_RUNS  256u
#define SHM_DESK_BYTES (64u << 10)
// Where a rank is asked to copy between its private memory and here, if the kernel does not let
// others do it.
struct shm_desk {
	struct shm_mutex lock;      // of who asks
	SHM_ALIGNED shm_u32 asked;  // number of the last request; the owner's thread sleeps on it
	shm_u32 asleep;             // 1: it does
	shm_u32 open;               // 1: there is such a thread
	// number of the last request that was carried out; who asks sleeps on it
	SHM_ALIGNED shm_u32 answered;
	shm_u32 dozing;               // 1: it does
	int32_t error;                // an errno, or 0
	uint32_t write, runs;
	struct {
		uint64_t addr, bytes;
	} run[SHM_DESK_RUNS]; // memory of the owner; as many bytes follow each other in data
	SHM_ALIGNED uint8_t data[SHM_DESK_BYTES];
};
static inline struct shm_desk *shm_desk(int local)
{
	return (struct shm_desk *)(shm.base + shm.head->desk_off) + local;
}
// before the first exposure: allows it, and starts the desk's thread. 0 or an errno
int shm_expose_open(uint64_t witness);
void shm_desk_close(void);             // ends that thread
// Whether the kernel lets me read and write memory of another rank, which has exposed some.
bool shm_vm_allowed(int local);
// Moves n runs between my memory and that of a local rank, by the kernel or by its desk. 0 or an
// errno: EFAULT is a wrong address.
int shm_vm_move(int local, const struct shm_run *r, size_t n, bool write);
int shm_desk_move(int local, const struct shm_run *r, size_t n, bool write);
static inline int shm_foreign_move(int local, bool desk, const struct shm_run *r, size_t n,
	bool write)
{
	return (desk ? shm_desk_move : shm_vm_move)(local, r, n, write);
}
struct k_stripes;
struct k_update_run;
// Adds scale times the elements of my side to theirs, under the accumulate locks.
int shm_foreign_acc(int local, bool desk, const struct k_stripes *st, int type, const void *scale,
	const struct shm_run *r, size_t n);
// An update (kernel/update.h) of elements of a local rank, and how its memory is reached.
struct shm_update {
	int local;
	bool desk;
	const struct k_stripes *st;
	int op, type;
};
// k_update_runs in memory of another rank; src and old are packed. 0 or an errno.
int shm_foreign_update(const struct shm_update *u, const struct k_update_run *r, size_t n,
	const void *src, void *old);

/* waiting -------------------------------------------------------------------------------------- */
static inline struct wait_policy *shm_policy(enum wait_place place)
{
	return place == WAIT_FARAWAY ? &shm.far : &shm.policy;
}
// Looks for cond, yields the core, then sleeps on the rank's bell (package wait). A thread that
// makes cond true then calls shm_ring. peer is the local rank that does so, or:
enum {
	SHM_ANY = -1,    // any rank
	SHM_REMOTE = -2, // a rank of another node
	SHM_SENDER = -3, // the same, for a message of it: no device writes that to its place
};
typedef wait_cond shm_cond;
void shm_wait(shm_cond cond, void *arg, const char *what, int peer);
// shm_wait that returns false before it sleeps. The caller may sleep otherwise, then call
// shm_woken.
bool shm_look(struct wait *w, shm_cond cond, void *arg, int peer);
// Ends a wait in which the caller has slept. rung: when the waker began to wake it; 0: not known.
void shm_woken(struct wait *w, uint64_t rung);
// starts a wait for a local rank; the looks are the caller's own
void shm_wait_begin(struct wait *w, int peer);
void shm_ring(int local); // after a store that may end a wait of rank `local`: full fence, then
			  // wake it if it sleeps
// Will local rank `peer` never do what the caller waits for? last: the caller waits for the barrier
// of all ranks. If true, check the condition once more, since the rank may have met it as its last
// act, then call shm.stuck.
bool shm_gone(int peer, bool last);
// Which rank has left, so that waiting for local rank `peer` (SHM_ANY: of the job) is in vain; -1:
// none. As for shm_gone.
int shm_in_vain(int peer);
bool shm_lost_slices(void); // has this process lost time slices by yielding, lately?
/* mutexes -------------------------------------------------------------------------------------- */
void shm_lock_slow(struct shm_mutex *m, uint32_t who);
// Waits for some microseconds at most. If false, the caller is in the queue and must call
// shm_lock_queued.
bool shm_lock_soon(struct shm_mutex *m, uint32_t who, uint32_t *ticket);
void shm_lock_queued(struct shm_mutex *m, uint32_t who, uint32_t ticket);
bool shm_trylock(struct shm_mutex *m, uint32_t who);
void shm_unlock_slow(struct shm_mutex *m);
static inline void shm_lock(struct shm_mutex *m, uint32_t who)
{
	// seq_cst: a writer of a shm_rwlock takes the gate by this and then looks for readers
	uint32_t none = 0;
	if (atomic_load_explicit(&m->next, memory_order_relaxed) !=
			atomic_load_explicit(&m->serving, memory_order_relaxed) ||
		!atomic_compare_exchange_strong_explicit(&m->owner, &none, who,
			memory_order_seq_cst, memory_order_relaxed))
		shm_lock_slow(m, who);
}
bool shm_pass_on(struct shm_mutex *m, uint32_t to); // by its owner; false: a rank is in the queue
static inline void shm_unlock(struct shm_mutex *m)
{
	atomic_exchange_explicit(&m->owner, 0, memory_order_seq_cst);
	// in one order with the head's store and load
	if (atomic_load_explicit(&m->asleep, memory_order_seq_cst))
		shm_unlock_slow(m);
}

/* reader/writer locks, events, and waiters that receive ---------------------------------------- */
#include "rwlock.h"
#include "event.h"
#include "record.h"
#include "receive.h"

/* teams: the members of a group on this node --------------------------------------------------- */
// members up to which a barrier is a flag each instead of a counter
#define SHM_FLAGS       8
#define SHM_SMALL       256u          // most bytes that a member publishes in one small step
#define SHM_SMALL_SLOTS 8u
// most bytes that a member publishes in one bulk step; fewer in a small arena
#define SHM_BULK        (256u << 10)
// of a member; only long transfers use all of them, so that the others stay in the cache
#define SHM_BULK_SLOTS  8u

// A small slot contains the number of its step, so that up to 56 bytes arrive in the line that
// announces them.
struct shm_slot {
	SHM_ALIGNED shm_u64 step;
	uint8_t data[SHM_SMALL];
};
struct shm_member {
	// last barrier this member has reached, in teams of up to SHM_FLAGS
	SHM_ALIGNED shm_u64 phase;
	SHM_ALIGNED shm_u64 post;  // last bulk step this member has published
	// it has lately lost time slices, as it was when it began its last long reduction
	shm_u32 crowded;
	SHM_ALIGNED shm_u64 done;  // last step this member has finished
	struct shm_slot small[SHM_SMALL_SLOTS];
};
// What the members of a team share: a collective context.
struct shm_context {
	SHM_ALIGNED shm_u32 arrived;
	SHM_ALIGNED shm_u64 phase; // barriers completed, in teams of more than SHM_FLAGS
	shm_u32 event, sleepers;   // futex, bumped when a member that sleeps may have to wake
	shm_u64 rung;              // when it last was, ns
	SHM_ALIGNED struct shm_member member[];
	// behind member[nlocal]: bulk slots, nlocal x SHM_BULK_SLOTS x bulk_bytes
};
// A process's own state of a team; one collective at a time per team and process.
struct shm_team {
	struct shm_context *context;
	uint8_t *bulk;
	size_t bulk_bytes; // of a slot
	int n, me, id;   // id: of the context
	int *local;      // local numbers of the members, malloc'ed
	uint64_t phase;  // barriers I have entered
	uint64_t step;   // steps I have begun
	uint64_t known;  // every member is known to have finished this step
	uint64_t uses;   // bulk slots used so far
	// a bulk slot may be overwritten once every member has finished this step
	uint64_t freed[SHM_BULK_SLOTS];
	uint8_t *room;   // of Go: SHM_SMALL bytes for it and each member, malloc'ed
	struct shm_team *next; // of all teams of the process
};
int shm_context_alloc(void);   // a free context, -1 when none is left
void shm_context_free(int id); // by one process, after a barrier of the members
// The counters from which its new members start; called by the process that has allocated it.
void shm_context_start(int id, uint64_t *phase, uint64_t *step);
// NULL: no memory
struct shm_team *shm_team_attach(int id, int n, const int *local, int me, uint64_t phase,
	uint64_t step);
void shm_team_detach(struct shm_team *h);
void shm_barrier(struct shm_team *h);
void shm_bcast(struct shm_team *h, void *buf, size_t nbytes, int root);
// nbytes <= SHM_SMALL
void shm_allgather(struct shm_team *h, const void *mine, size_t nbytes, void *all);
void shm_allreduce(struct shm_team *h, void *x, size_t nelem, int type, int red);   // k_type, k_red

/* messages: one ring per ordered pair of processes. A message from another node travels in the ring
 * of the process that delivers it, so each message names its source
 * ------------------------------------------------ */
#define SHM_RING_BYTES (64u << 10) // at most; less only in a job on one node
#define SHM_COPIED 6 // words of a message of which a copy is beside head, its header included
struct shm_ring {
	SHM_ALIGNED shm_u64 head; // bytes written, by the sender
	shm_u64 copied;           // head behind the message that copy has; 0: it is being changed
	shm_u64 copy[SHM_COPIED]; // for a receiver that has read all before it: one line less
	SHM_ALIGNED shm_u64 tail; // bytes read, by the receiver
	SHM_ALIGNED uint8_t data[];
};
struct shm_message {
	int from; // world rank
	int64_t tag;
	// bytes here; bytes of the whole message, whose rest comes by other means
	size_t nbytes, total;
};
void shm_send(int to, int64_t tag, const void *buf, size_t nbytes); // from me to a local rank
// The same on behalf of any rank. Without `wait` it returns false if there is no room, or another
// thread is sending there.
bool shm_deliver(int to, const struct shm_message *m, const void *buf, bool wait);
// The same without wait, for C, which must not overtake what waits for room in Go.
bool shm_deliver_next(int to, const struct shm_message *m, const void *buf);
void shm_set_backlogged(int to, bool yes);
// Receives the oldest message with m->tag from world rank m->from (-1: any), and writes the rest of
// *m. Returns -1 and leaves the message unread (in the unexpected list) if it has more than cap
// bytes in total.
int shm_recv(struct shm_message *m, void *buf, size_t cap);
// The same, but -1 also for a message of which a part comes by other means.
int shm_recv_whole(struct shm_message *m, void *buf, size_t cap);
bool shm_arrived(int from, int64_t tag); // would shm_recv return at once?
void shm_messages_open(void);
void shm_messages_reset(void); // forget messages never received

/* notify --------------------------------------------------------------------------------------- */
// on behalf of a world rank; returns how often it has notified local rank `to`
uint32_t shm_notify(int to, int from);
const void *shm_counters(uint64_t *bytes); // of all local ranks: [nlocal target][world source]
uint64_t shm_notify_bytes(uint64_t nlocal, uint64_t world);
uint32_t shm_notify_wait(int from,
	uint32_t want); // returns the count received from a world rank, at least want (modulo 2^32)
// The same; false: it is not there soon, and the caller may have to receive what comes.
bool shm_notify_soon(int from, uint32_t want, uint32_t *got);
// Looks and receives until the count is there; false: it is time to sleep.
bool shm_notify_look(int from, uint32_t want);
// A device may write a counter, and wakes nobody. The notifier says how often it has had one
// written at a world rank; true: that rank has asked, and must be told.
bool shm_notify_sent(int to, uint32_t count);
// On behalf of world rank `by`: local rank `local` shall tell it. True: it has already had `want`
// written, and `by` must be told now.
bool shm_notify_ask(int local, int by, uint32_t want);
bool shm_notified(int local, int from, uint32_t want); // wakes the local rank if the count is there

/* threads -------------------------------------------------------------------------------------- */
// let the calling thread run on every CPU its control group allows; 0 or an error number
int shm_unbind(void);

/* the lines a kernel's accumulate locks live in */
// Declares memory for device atomics. The range is in the list before another rank can know the
// memory.
bool shm_declare(uint64_t lo, uint64_t hi); // false: there are too many ranges
bool shm_declared(uint64_t addr, struct shm_region *out);
static inline bool shm_any_declared(void)
{
	return atomic_load_explicit(&shm.head->declared, memory_order_relaxed) != 0;
}
static inline uint32_t *shm_stripes(void) { return (uint32_t *)(shm.base + shm.head->stripe_off); }

#endif
