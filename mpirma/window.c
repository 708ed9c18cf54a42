// SPDX-License-Identifier: BSD-3-Clause
// The table of windows by handle. Reading takes no lock: entries are only added, or marked as gone
// and used again later, and a program does not use a handle that another thread is freeing.
#include "window.h"

#include <pthread.h>
#include <stdlib.h>

enum { FIRST_SLOTS = 256 };

struct slot {
	_Atomic uintptr_t key; // a handle; 0: never used, which ends a search; GONE
	struct rma_win *_Atomic win;
};

struct table {
	size_t mask, used; // used: slots whose key is not 0
	struct slot slot[];
};

static const uintptr_t GONE = ~(uintptr_t)0;
static struct table *_Atomic table;
static struct table *_Atomic visible; // the same; NULL while operations are recorded
static bool hidden;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static size_t hash(uintptr_t key)
{
	return (size_t)((key ^ key >> 20) * 0x9e3779b97f4a7c15ull >> 40);
}

static inline struct rma_win *search(struct table *t, handle win)
{
	for (size_t i = hash(win);; i++) {
		struct slot *s = &t->slot[i & t->mask];
		uintptr_t key = atomic_load_explicit(&s->key, memory_order_acquire);
		if (likely(key == win))
			return atomic_load_explicit(&s->win, memory_order_relaxed);
		if (key == 0)
			return NULL;
	}
}

struct rma_win *rma_find(handle win)
{
	struct table *t = atomic_load_explicit(&visible, memory_order_acquire);
	if (unlikely(!t))
		return rma_recorded ? rma_known(win) : NULL;
	return search(t, win);
}

struct rma_win *rma_known(handle win)
{
	struct table *t = atomic_load_explicit(&table, memory_order_acquire);
	return t ? search(t, win) : NULL;
}

void rma_hide_windows(bool hide)
{
	pthread_mutex_lock(&changing);
	hidden = hide;
	atomic_store_explicit(&visible, hide ? NULL : atomic_load(&table), memory_order_release);
	pthread_mutex_unlock(&changing);
}

static void put(struct table *t, handle key, struct rma_win *w)
{
	size_t i = hash(key);
	for (uintptr_t k; (k = t->slot[i & t->mask].key) != 0 && k != GONE && k != key; i++) {}
	struct slot *s = &t->slot[i & t->mask];
	t->used += s->key == 0;
	atomic_store_explicit(&s->win, w, memory_order_relaxed);
	atomic_store_explicit(&s->key, key, memory_order_release);
}

// Makes a larger table, or one of the same size without the removed entries. The old table stays
// allocated, because another thread may be reading it.
static bool grow(struct table *old)
{
	size_t slots = old ? 2 * (old->mask + 1) : FIRST_SLOTS;
	struct table *t = calloc(1, sizeof *t + slots * sizeof *t->slot);
	if (!t)
		return false;
	t->mask = slots - 1;
	for (size_t i = 0; old && i <= old->mask; i++)
		if (old->slot[i].key != 0 && old->slot[i].key != GONE)
			put(t, old->slot[i].key, old->slot[i].win);
	atomic_store_explicit(&table, t, memory_order_release);
	if (!hidden)
		atomic_store_explicit(&visible, t, memory_order_release);
	return true;
}

bool rma_register(struct rma_win *w)
{
	pthread_mutex_lock(&changing);
	struct table *t = atomic_load(&table);
	bool room = (t && t->used <= t->mask / 2) || grow(t);
	if (room)
		put(atomic_load(&table), w->win, w);
	pthread_mutex_unlock(&changing);
	return room;
}

void rma_unregister(struct rma_win *w)
{
	pthread_mutex_lock(&changing);
	struct table *t = atomic_load(&table);
	for (size_t i = 0; i <= t->mask; i++)
		if (atomic_load(&t->slot[i].win) == w && t->slot[i].key == w->win) {
			atomic_store(&t->slot[i].key, GONE);
			atomic_store(&t->slot[i].win, NULL);
		}
	pthread_mutex_unlock(&changing);
}

void rma_forget_windows(void)
{
	pthread_mutex_lock(&changing);
	atomic_store_explicit(&visible, NULL, memory_order_release);
	atomic_store_explicit(&table, NULL, memory_order_release);
	pthread_mutex_unlock(&changing);
}
