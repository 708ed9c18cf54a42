// SPDX-License-Identifier: BSD-3-Clause
// Keeps the flattened form of every datatype that the program has used: a hash table from handle to
// struct rma_type, read without a lock. An attribute that is set on a derived type tells when the
// MPI drops it. It must not call MPI while it holds its lock: the MPI calls `forget` with a lock of
// its own.
//
// A reader may meet an entry that is being moved or recycled. It then sees another key, or none,
// and asks again with the lock; entries are never given back to malloc, and that of a key which a
// correct program uses does not change.
#include "datatype.h"

#include <pthread.h>
#include <stdlib.h>

struct entry {
	_Atomic handle key;
	struct rma_type type;
	struct entry *next; // of those to be used again
};

struct table {
	size_t mask;
	struct table *former; // kept: a reader may be in it
	_Atomic(struct entry *) slot[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct table *) table;
static size_t used;
static struct entry *unused;

static size_t place_of(handle key, size_t mask)
{
	return (size_t)((key * 0x9e3779b97f4a7c15u) >> 32) & mask;
}

static struct entry *find(const struct table *t, handle key)
{
	if (!t)
		return NULL;
	for (size_t i = place_of(key, t->mask), n = 0; n <= t->mask; i = (i + 1) & t->mask, n++) {
		struct entry *e = atomic_load_explicit(&t->slot[i], memory_order_acquire);
		if (!e)
			return NULL;
		if (atomic_load_explicit(&e->key, memory_order_acquire) == key)
			return e;
	}
	return NULL;
}

static void put(struct table *t, struct entry *e)
{
	size_t i = place_of(atomic_load_explicit(&e->key, memory_order_relaxed), t->mask);
	while (atomic_load_explicit(&t->slot[i], memory_order_relaxed))
		i = (i + 1) & t->mask;
	atomic_store_explicit(&t->slot[i], e, memory_order_release);
}

// Makes room for one more; at most half of the slots are used.
static bool grow(void)
{
	struct table *old = atomic_load_explicit(&table, memory_order_relaxed);
	if (old && 2 * (used + 1) <= old->mask + 1)
		return true;
	size_t slots = old ? 2 * (old->mask + 1) : 256;
	struct table *t = calloc(1, sizeof *t + slots * sizeof t->slot[0]);
	if (!t)
		return false;
	t->mask = slots - 1;
	t->former = old;
	for (size_t i = 0; old && i <= old->mask; i++) {
		struct entry *e = atomic_load_explicit(&old->slot[i], memory_order_relaxed);
		if (e)
			put(t, e);
	}
	atomic_store_explicit(&table, t, memory_order_release);
	return true;
}

// Takes an entry out. Those behind it move up, so that no search ends at the gap.
static void take_out(struct table *t, struct entry *e)
{
	size_t gap = place_of(atomic_load_explicit(&e->key, memory_order_relaxed), t->mask);
	while (atomic_load_explicit(&t->slot[gap], memory_order_relaxed) != e)
		gap = (gap + 1) & t->mask;
	for (size_t i = (gap + 1) & t->mask;; i = (i + 1) & t->mask) {
		struct entry *next = atomic_load_explicit(&t->slot[i], memory_order_relaxed);
		if (!next)
			break;
		size_t home = place_of(atomic_load_explicit(&next->key, memory_order_relaxed),
			t->mask);
		if (((i - home) & t->mask) < ((i - gap) & t->mask))
			continue;
		atomic_store_explicit(&t->slot[gap], next, memory_order_release);
		gap = i;
	}
	atomic_store_explicit(&t->slot[gap], NULL, memory_order_release);
}

static void recycle(struct entry *e)
{
	type_clear(&e->type);
	pthread_mutex_lock(&lock);
	e->next = unused;
	unused = e;
	pthread_mutex_unlock(&lock);
}

/* what MPI calls ------------------------------------------------------------------------------- */

static int forget(handle type, int keyval, void *value, void *extra)
{
	struct entry *e = value;
	pthread_mutex_lock(&lock);
	take_out(atomic_load_explicit(&table, memory_order_relaxed), e);
	used--;
	atomic_store_explicit(&e->key, 0, memory_order_relaxed);
	pthread_mutex_unlock(&lock);
	recycle(e);
	return 0;
}

// A duplicate is flattened when it is used.
static int copy_nothing(handle type, int keyval, void *extra, void *in, void *out, int *flag)
{
	*flag = 0;
	return 0;
}

// Asks the MPI to call forget when it drops the type. Not for those that it never drops.
static void watch(handle type, struct entry *e)
{
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	static int keyval;
	static bool made;
	int combiner = predefined_class(type) ? COMBINER_NAMED : contents_combiner(type);
	if (combiner == COMBINER_NAMED ||
		(combiner >= COMBINER_F90_REAL && combiner <= COMBINER_F90_INTEGER))
		return;
	pthread_mutex_lock(&once);
	if (!made)
		made = real.Type_create_keyval(copy_nothing, forget, &keyval, NULL) == 0;
	pthread_mutex_unlock(&once);
	if (made)
		real.Type_set_attr(type, keyval, e);
}

/* first use ------------------------------------------------------------------------------------ */

// The entry of a type that is there after all (a reader may miss one that moves), else one that is
// free.
static struct entry *look_again(handle type, bool *there)
{
	pthread_mutex_lock(&lock);
	struct entry *e = find(atomic_load_explicit(&table, memory_order_relaxed), type);
	*there = e != NULL;
	if (!e && unused) {
		e = unused;
		unused = e->next;
	}
	pthread_mutex_unlock(&lock);
	return e ? e : calloc(1, sizeof *e);
}

// Enters a type. Another thread may have been first: then its entry is returned; NULL: no memory.
static struct entry *enter(struct entry *e, handle type)
{
	pthread_mutex_lock(&lock);
	struct entry *there = find(atomic_load_explicit(&table, memory_order_relaxed), type);
	if (!there && grow()) {
		atomic_store_explicit(&e->key, type, memory_order_release);
		put(atomic_load_explicit(&table, memory_order_relaxed), e);
		used++;
		there = e;
	}
	pthread_mutex_unlock(&lock);
	return there;
}

static const struct rma_type *first_use(handle type)
{
	bool there;
	struct entry *e = look_again(type, &there), *entered = NULL;
	if (!e || there)
		return e ? &e->type : NULL;
	if (type_make(&e->type, type))
		entered = enter(e, type);
	if (entered == e)
		watch(type, e);
	else
		recycle(e);
	return entered ? &entered->type : NULL;
}

const struct rma_type *rma_type(handle type)
{
	type = rma_handle(type);
	struct entry *e = find(atomic_load_explicit(&table, memory_order_acquire), type);
	if (likely(e != NULL))
		return &e->type;
	if (!type || type == abi.datatype_null || !rma_committed(type))
		return NULL;
	return first_use(type);
}
