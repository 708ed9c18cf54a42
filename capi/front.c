// SPDX-License-Identifier: BSD-3-Clause
// The state of the fast path: what Go publishes at init, group creation and finalize, and the
// look-up of regions that are not cached. No public function is here.
#include "front.h"

#include "../internal/kernel/atomic.h"

#include <stdlib.h>
#include <string.h>

// keys of one never match entries of the other
struct front front, front_inner = {.key = (uint64_t)1 << 63};
struct front *front_used = &front;
_Atomic int32_t front_lock_queues;
_Atomic(struct shm_team *) front_teams[FRONT_TEAMS];
_Thread_local struct front_hit front_hits[FRONT_HITS] __attribute__((tls_model("initial-exec")));

// My own private memory may be given, too: any address outside the arena. There is no memory in the
// upper half of the address space, where pointers like (void *)-1 are.
static bool is_private(unsigned rank, const void *p, uint64_t n)
{
	uintptr_t a = (uintptr_t)p, base = (uintptr_t)shm.base;
	return (int)rank == front_used->me && p && n <= INTPTR_MAX && a <= INTPTR_MAX - n &&
		(a + n <= base || a >= base + shm.bytes);
}

bool front_find(unsigned rank, const void *p, uint64_t n)
{
	struct shm_found f;
	int local = front_used->local[rank];
	if (local < 0)
		return false;
	if (is_private(rank, p, n))
		return true;
	if ((int)rank != front_used->me && (uintptr_t)p - (uintptr_t)shm.base >= shm.bytes)
		return false; // private memory that another rank has exposed: it is not mapped here
	if (!shm_find(local, (uintptr_t)p, &f) || n > f.hi - (uintptr_t)p)
		return false;
	front_hits[(rank ^ ((uintptr_t)p >> 22)) % FRONT_HITS] =
		(struct front_hit){.key = front_used->key + rank,
			.lo = f.lo,
			.len = f.hi - f.lo,
			.seen = f.gen,
			.gen = shm_gen(local)};
	return true;
}

// A mutex is locked if it is free, and unlocked if no rank of another node waits for it in Go. Go
// adds to its queues in the caller's thread.
static bool serve_mutex(const struct fast_change *c, struct shm_mutex *m)
{
	uint32_t owner = (uint32_t)c->operand;
	if (c->word % sizeof *m != 0)
		return false;
	if (c->op == FAST_LOCK)
		return shm_trylock(m, owner);
	if (atomic_load_explicit(&front_lock_queues, memory_order_acquire) != 0 ||
	    atomic_load_explicit(&m->owner, memory_order_relaxed) != owner)
		return false;
	shm_unlock(m);
	return true;
}

// A change that another node has asked for: plain ones, of words that this process has mapped, and
// that no device changes. Its caller is the data server's.
static bool serve(struct fast_change *c)
{
	struct shm_found f;
	struct shm_region declared;
	if ((unsigned)c->rank >= atomic_load_explicit(&front_used->ranks, memory_order_acquire))
		return false;
	int local = front_used->local[c->rank];
	if (local < 0 || (c->bytes != 4 && c->bytes != 8) || c->word % c->bytes != 0 ||
	    c->word - (uintptr_t)shm.base >= shm.bytes || !shm_find(local, c->word, &f) ||
	    c->bytes > f.hi - c->word || (c->bytes == 8 && shm_declared(c->word, &declared)))
		return false;
	void *word = (void *)c->word;
	if (c->op == FAST_LOCK || c->op == FAST_UNLOCK)
		return sizeof(struct shm_mutex) <= f.hi - c->word && serve_mutex(c, word);
	uint32_t old = 0, operand = (uint32_t)c->operand, compare = (uint32_t)c->compare;
	bool done = c->bytes == 8 ?
		k_change_64(c->op, &c->old, word, &c->operand, &c->compare) :
		k_change_32(c->op, &old, word, &operand, &compare);
	if (c->bytes == 4)
		c->old = old;
	if (done)
		shm_record_store(local);
	return done;
}

// The same for an accumulate.
static bool serve_acc(const struct fast_acc *a)
{
	struct shm_found f;
	int64_t lo, hi;
	int stride[K_MAX_LEVELS], step = 1, local;
	if ((unsigned)a->rank >= atomic_load_explicit(&front_used->ranks, memory_order_acquire) ||
	    (local = front_used->local[a->rank]) < 0)
		return false;
	k_extent(a->stride, a->count, a->levels, &lo, &hi);
	uintptr_t first = a->to + (uintptr_t)lo, end = a->to + (uintptr_t)hi;
	if (end <= first || first - (uintptr_t)shm.base >= shm.bytes ||
	    !shm_find(local, first, &f) || end > f.hi)
		return false;
	for (int i = 0; i < a->levels; i++)
		stride[i] = step *= a->count[i];
	k_acc_strided(&front_used->stripes, a->type, a->scale, a->data, stride, (void *)a->to,
		a->stride, a->count, a->levels);
	shm_record_store(local);
	return true;
}

// The same for a two-sided message.
static bool serve_send(const struct fast_send *s)
{
	unsigned ranks = atomic_load_explicit(&front_used->ranks, memory_order_acquire);
	if ((unsigned)s->rank >= ranks || (unsigned)s->from >= ranks ||
	    front_used->local[s->rank] < 0 || front_used->local[s->from] >= 0)
		return false;
	struct shm_message m = {.from = s->from, .tag = s->tag, .nbytes = s->bytes,
		.total = s->bytes};
	return shm_deliver_next(front_used->local[s->rank], &m, s->data);
}

// Called by Go when a group has been made whose members are all on this node, and (NULL) before it
// is freed.
void front_set_team(int group, struct shm_team *team)
{
	if ((unsigned)group < FRONT_TEAMS)
		atomic_store_explicit(&front_teams[group], team, memory_order_release);
}

// Called by Go when all ranks are initialised. local is malloc'ed and owned by C from now on;
// traffic, notified, batches and coalesced are Go's.
void front_open(int me, int ranks, int *local, struct shm_team *world, struct traffic *traffic,
	struct notified *notified, struct front_batch *batches, struct front_batch *coalesced,
	bool words)
{
	front_used = front.profiled ? &front_inner : &front;
	front_used->notified = notified;
	front_used->traffic = traffic;
	front_used->batches = batches;
	front_used->coalesced = coalesced;
	front_used->words = words;
	free((void *)front_used->local);
	front_used->me = me;
	front_used->local = local;
	front_used->world = world;
	front_set_team(FRONT_WORLD, world);
	// never below 2^32: the empty entries of a new thread are zero
	front_used->key += (uint64_t)1 << 32;
	front_used->stripes = (struct k_stripes){.word = shm_stripes(),
		.mask = shm.head->stripes - 1,
		.pitch_words = SHM_LINE / 4,
		.owner = (uint32_t)me + 1,
		.device = shm.head->device};
	atomic_store_explicit(&front_used->ranks, (unsigned)ranks, memory_order_release);
	atomic_store_explicit(&fast_serve, serve, memory_order_release);
	atomic_store_explicit(&fast_serve_acc, serve_acc, memory_order_release);
	atomic_store_explicit(&fast_serve_send, serve_send, memory_order_release);
}

void front_close(void)
{
	atomic_store_explicit(&front_used->ranks, 0, memory_order_release);
	atomic_store_explicit(&fast_serve, NULL, memory_order_release);
	atomic_store_explicit(&fast_serve_acc, NULL, memory_order_release);
	atomic_store_explicit(&fast_serve_send, NULL, memory_order_release);
	front_used->key += (uint64_t)1 << 32;
	for (int i = 0; i < (int)FRONT_TEAMS; i++) front_set_team(i, NULL);
}

void front_count_aggregates(int change) { atomic_fetch_add(&front_used->aggregates, change); }

#ifdef ARMCI_ABI_MPI
// The struct is passed by value, and the application may use its communicator. The id is in a field
// in which ARMCI-MPI keeps a communicator that no application uses.
int front_group(ARMCI_Group *g) { return g ? (int)(intptr_t)g->noncoll_pgroup_comm - 1 : -1; }

void front_set_group(ARMCI_Group *g, int id, uintptr_t comm, int rank, int size)
{
	memset(g, 0, sizeof *g);
	g->comm = (front_comm)comm;
	g->noncoll_pgroup_comm = (front_comm)(intptr_t)(id + 1);
	g->rank = rank;
	g->size = size;
}
#else
int front_group(ARMCI_Group *g) { return g ? *g : -1; }

void front_set_group(ARMCI_Group *g, int id, uintptr_t comm, int rank, int size)
{
	(void)comm;
	(void)rank;
	(void)size;
	*g = id;
}
#endif
