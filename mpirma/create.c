// SPDX-License-Identifier: BSD-3-Clause
// Making and freeing windows. Members exchange where their memory and control blocks are, by a
// collective call of their MPI on the program's communicator, on which the call that makes a window
// is collective itself; afterwards no member asks another one. So a window costs none of the MPI's
// few context ids, except for its handle: a real window of the MPI (handle.c), so that conversion
// to Fortran, names, attributes and error handlers stay MPI's.
#include "create.h"
#include "plan.h"
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

enum { TEXT_BYTES = 200 }; // of what Go says of an error

// The memory of other members is not accessed any more.
static void forget(struct rma_win *w)
{
	for (int i = 0; i < w->n && w->target; i++) {
		struct rma_target *t = &w->target[i];
		if (t->lent)
			mpirmago_forget(t->world, t->addr, (int64_t)t->size, t->key);
		t->lent = false;
	}
}

static void discard(struct rma_win *w)
{
	char text[200];
	forget(w);
	if (w->lent && !w->key_known)
		mpirmago_recall(w->key);
	if (w->exposed_memory)
		mpirmago_conceal((uintptr_t)w->base, w->size, text);
	mpirmago_release(w->memory, text);
	if (w->block && w->block->lock.word)
		mpirmago_free_lock_word(w->block->lock.word);
	mpirmago_release((uintptr_t)w->block, text);
	if (w->group)
		real.Group_free(&w->group);
	free(w->target);
	free((void *)w->lock);
	free((void *)w->posted);
	free((void *)w->flushed);
	free((void *)w->local);
	free((void *)w->swift);
	free(w->access);
	free(w->targets);
	free(w->seen);
	free(w->origins);
	free(w->expected);
	pthread_mutex_destroy(&w->locking);
	free(w);
}

// NULL: no memory.
static struct rma_win *new_window(int n)
{
	struct rma_win *w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	size_t members = (size_t)n;
	w->n = n;
	w->target = calloc(members, sizeof *w->target);
	w->lock = calloc(members, sizeof *w->lock);
	w->posted = calloc(members, sizeof *w->posted);
	w->flushed = calloc(members, sizeof *w->flushed);
	w->local = calloc(members, sizeof *w->local);
	w->swift = calloc(members, sizeof *w->swift);
	w->access = calloc(members, sizeof *w->access);
	w->seen = calloc(members, sizeof *w->seen);
	w->expected = calloc(members, sizeof *w->expected);
	pthread_mutex_init(&w->locking, NULL);
	if (w->target && w->lock && w->posted && w->flushed && w->local && w->swift && w->access &&
		w->seen && w->expected)
		return w;
	discard(w);
	return NULL;
}

// Memory in the arena, for the block and for windows that bring their own.
static int allocate(struct rma_win *w, const struct making *m, int64_t bytes, char *text)
{
	uintptr_t block = 0;
	size_t size = sizeof(struct win_block) + (size_t)w->n * sizeof(struct rma_pair);
	int result = mpirmago_allocate((int64_t)size, 1, &block, text);
	w->block = (struct win_block *)block;
	if (result == GO_OK && job.words)
		mpirmago_add_lock_word((uintptr_t)&w->block->lock);
	if (result == GO_OK && bytes > 0)
		result = mpirmago_allocate(bytes, 0, &w->memory, text);
	if (result == GO_OK && m->flavor == FLAVOR_CREATE && m->size > 0 &&
		!mpirmago_owned((uintptr_t)m->base, m->size)) {
		result = mpirmago_expose((uintptr_t)m->base, m->size, text);
		w->exposed_memory = result == GO_OK;
		w->lent = w->exposed_memory && mpirmago_lend((uintptr_t)m->base, m->size, &w->key);
	}
	return result;
}

// Bytes that this member allocates. Contiguous shared memory is the first member's, for all.
static int64_t own_bytes(const struct making *m, const struct rma_win *w, const int64_t *sizes)
{
	int64_t all = 0;
	if (m->flavor == FLAVOR_ALLOCATE || (m->flavor == FLAVOR_SHARED && m->apart))
		return m->size;
	for (int i = 0; m->flavor == FLAVOR_SHARED && w->me == 0 && i < w->n; i++) all += sizes[i];
	return all;
}

static void fill(struct rma_win *w, const struct making *m, const struct card *cards)
{
	uint64_t next = cards[0].addr;
	for (int i = 0; i < w->n; i++) {
		const struct card *c = &cards[i];
		bool here = mpirmago_here(c->world),
		     packed = m->flavor == FLAVOR_SHARED && !m->apart;
		bool mapped = c->world == job.me || (here && (packed || c->arena));
		w->target[i] = (struct rma_target){.addr = packed ? next : c->addr,
			.size = c->size,
			.unit = c->unit,
			.world = c->world,
			.block = (struct win_block *)c->block,
			.word = c->word,
			.here = here,
			.mapped = mapped,
			.direct = mapped && job.fast,
			.lent = c->lent && !here,
			.key = c->key};
		if (here && !mapped && m->flavor == FLAVOR_CREATE && job.fast && job.vm) {
			w->target[i].local = shm_local_of(c->world);
			w->target[i].by_kernel = c->size > 0 && shm_vm_allowed(w->target[i].local);
		}
		if (w->target[i].lent)
			mpirmago_learn(c->world, c->addr, (int64_t)c->size, c->key);
		next += c->size;
	}
	if (m->flavor != FLAVOR_CREATE && m->flavor != FLAVOR_DYNAMIC)
		w->base = (void *)w->target[w->me].addr;
}

// Exchanges cards. Not RMA_OK: an error class, the same on all members. w: NULL if there was no
// memory for it.
static int exchange(const struct plan *p, const struct making *m, struct rma_win *w,
	struct card mine)
{
	int failed = real.Allgather(&mine, sizeof mine, abi.byte, p->cards, sizeof mine, abi.byte,
		m->comm);
	bool ended = !failed; // else other members may have got the cards
	for (int i = 0; !failed && i < p->n; i++) failed = p->cards[i].failed;
	if (w)
		w->key_known = !failed || !ended;
	if (!failed)
		fill(w, m, p->cards);
	return failed;
}

static int share_sizes(const struct plan *p, const struct making *m)
{
	if (m->flavor != FLAVOR_SHARED)
		return RMA_OK;
	return real.Allgather(&m->size, sizeof m->size, abi.byte, p->sizes, sizeof m->size,
		abi.byte, m->comm);
}

// Makes the handle and enters it into the table of windows. Not RMA_OK: an error class.
static int make_handle(struct rma_win *w, const struct making *m, char *text)
{
	int failed = rma_real_window(m->info, &w->win);
	if (failed) {
		int class = abi.err_other;
		real.Error_class(failed, &class);
		snprintf(text, TEXT_BYTES, "the MPI has no window left (each takes a context id)");
		return class;
	}
	if (rma_register(w))
		return RMA_OK;
	snprintf(text, TEXT_BYTES, "no memory for the table of windows");
	real.Win_free(&w->win);
	w->win = 0;
	return abi.err_no_mem;
}

static int error_class(int result)
{
	return result == GO_OK ? RMA_OK : result == GO_MEMORY ? abi.err_no_mem : abi.err_other;
}

// Makes this member's part. Not RMA_OK: an error class.
static int make_part(const struct plan *p, const struct making *m, struct rma_win *w, char *text)
{
	w->base = m->base;
	w->size = m->size;
	w->unit = (int)m->unit;
	w->flavor = m->flavor;
	int failed = error_class(allocate(w, m, own_bytes(m, w, p->sizes), text));
	return failed ? failed : make_handle(w, m, text);
}

// Makes this member's part, then exchanges it: whether it could be made, too, so that all fail or
// none. w: NULL if there was no memory for it.
static int build(const struct plan *p, const struct making *m, struct rma_win *w, char *text)
{
	int me, failed = real.Comm_rank(m->comm, &me);
	if (failed || (failed = share_sizes(p, m)))
		return failed;
	if (!w) {
		snprintf(text, TEXT_BYTES, "no memory for a window of %d members", p->n);
		return exchange(p, m, w, (struct card){.failed = abi.err_no_mem});
	}
	w->me = me;
	failed = make_part(p, m, w, text);
	return exchange(p, m, w,
		(struct card){.addr = m->flavor == FLAVOR_CREATE ? (uintptr_t)m->base : w->memory,
			.size = m->flavor == FLAVOR_DYNAMIC ? UINT64_MAX : (uint64_t)m->size,
			.block = (uintptr_t)w->block,
			.word = w->block ? w->block->lock.word : 0,
			.unit = m->unit,
			.world = p->world[me],
			.arena = !w->exposed_memory,
			.lent = w->lent,
			.key = w->key,
			.failed = failed});
}

// Undoes what build has made.
static void unmake(struct rma_win *w)
{
	if (w->win) {
		rma_unregister(w);
		real.Win_free(&w->win);
	}
	discard(w);
}

int rma_create(const struct making *m, void *win, void *base)
{
	char text[TEXT_BYTES] = "another member could not make its part of the window";
	struct plan p;
	int failed = job.running ? plan_open(&p, m->comm, m->flavor == FLAVOR_SHARED) : RMA_PASS;
	if (failed == RMA_PASS)
		rma_passed_through(m->comm);
	if (failed)
		return failed;
	struct rma_win *w = p.reserved ? NULL : new_window(p.n);
	failed = build(&p, m, w, text);
	if (w)
		w->group = p.group;
	else
		real.Group_free(&p.group);
	plan_close(&p);
	if (failed) {
		if (w)
			unmake(w);
		return rma_comm_error(m->comm, m->function, failed, "%s", text);
	}
	rma_set_handle(win, w->win);
	if (base)
		*(void **)base = w->base;
	return RMA_OK;
}

PUBLIC int PMPI_Win_free(void *win)
{
	static const char function[] = "MPI_Win_free";
	struct rma_win *w = rma_known(rma_get_handle(win));
	if (!w)
		return real.Win_free(win);
	if (w->locks > 0 || w->locked_all != LOCK_NONE || w->started || w->exposing)
		return rma_error(w, function, abi.err_rma_sync, "win: an epoch is open");
	struct profile_span s = rma_begin(function, 0);
	profile_entered_go = true;
	int failed = rma_flush_all(w, function);
	forget(w);
	int met = rma_meet_last(w, function);
	w->key_known = met; // else all have forgotten it
	handle h = w->win;
	rma_unregister(w);
	rma_detach_all(w);
	int freed = real.Win_free(&h);
	rma_set_handle(win, abi.win_null);
	discard(w);
	rma_end(&s, PROFILE_MPI_FREE, 0);
	return failed ? failed : met ? met : freed;
}
RMA_ALIAS(Win_free)
