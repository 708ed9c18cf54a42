// SPDX-License-Identifier: BSD-3-Clause
// Making and freeing windows. Members exchange where their memory and control blocks are, by a
// collective call of their MPI on the program's communicator, on which the call that makes a window
// is collective itself; afterwards no member asks another one. So a window costs none of the MPI's
// few context ids, except for its handle: a real window of the MPI (handle.c), so that conversion
// to Fortran, names, attributes and error handlers stay MPI's.
#include "create.h"
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

enum { TEXT_BYTES = 200 }; // of what Go says of an error

// What members tell each other.
struct card {
	uint64_t addr, size, block, word;
	int64_t unit;
	int32_t world, failed; // failed: an error class
	int32_t arena;         // the memory is in the node's arena
	int32_t lent;          // devices may access it, with the key
	uint64_t key;
};

// Ranks of the job of the communicator's members. NULL: it has others, or there is no memory.
static int *world_ranks(handle comm, handle *group, int *n, bool *no_memory)
{
	int *list = NULL;
	handle everybody = 0;
	if (real.Comm_group(comm, group))
		return NULL;
	if (!real.Group_size(*group, n) && !real.Comm_group(abi.comm_world, &everybody)) {
		list = malloc((size_t)(2 * *n) * sizeof *list);
		*no_memory = !list;
	}
	for (int i = 0; list && i < *n; i++) list[*n + i] = i;
	bool ours = list && !real.Group_translate_ranks(*group, *n, list + *n, everybody, list);
	for (int i = 0; ours && i < *n; i++) ours = list[i] != abi.undefined;
	if (everybody)
		real.Group_free(&everybody);
	if (ours)
		return list;
	free(list);
	real.Group_free(group);
	return NULL;
}

static bool all_here(const int *world, int n)
{
	bool here = true;
	for (int i = 0; i < n; i++) here = here && mpirmago_here(world[i]);
	return here;
}

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

// A window without memory for its tables has no targets: it takes part in the exchange, so that all
// members fail.
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
	if (!w->lock || !w->posted || !w->flushed || !w->local || !w->swift || !w->access ||
		!w->seen || !w->expected) {
		free(w->target);
		w->target = NULL;
	}
	pthread_mutex_init(&w->locking, NULL);
	return w;
}

// Memory in the arena, for the block and for windows that bring their own.
static int allocate(struct rma_win *w, const struct making *m, int64_t bytes, char *text)
{
	uintptr_t block = 0;
	size_t size = sizeof(struct win_block) + (size_t)w->n * sizeof(struct rma_pair);
	if (!w->target) {
		snprintf(text, TEXT_BYTES, "no memory for a window of %d members", w->n);
		return GO_MEMORY;
	}
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

// Exchanges cards. Not RMA_OK: an error class, the same on all members.
static int exchange(struct rma_win *w, const struct making *m, struct card mine, char *text)
{
	struct card *cards = calloc((size_t)w->n, sizeof *cards);
	w->key_known = true;
	if (!cards) {
		snprintf(text, TEXT_BYTES, "no memory for what its %d members exchange", w->n);
		return abi.err_no_mem;
	}
	int failed = real.Allgather(&mine, sizeof mine, abi.byte, cards, sizeof mine, abi.byte,
		m->comm);
	for (int i = 0; !failed && i < w->n; i++) w->key_known = !(failed = cards[i].failed);
	if (!failed)
		fill(w, m, cards);
	free(cards);
	return failed;
}

static int share_sizes(struct rma_win *w, const struct making *m, int64_t *sizes)
{
	if (m->flavor != FLAVOR_SHARED)
		return RMA_OK;
	return real.Allgather(&m->size, sizeof m->size, abi.byte, sizes, sizeof m->size, abi.byte,
		m->comm);
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

// Makes this member's part, then exchanges it: whether it could be made, too, so that all fail or
// none. world is of all members.
static int build(struct rma_win *w, const struct making *m, const int *world, char *text)
{
	int64_t *sizes = calloc((size_t)w->n, sizeof *sizes);
	if (!sizes) {
		snprintf(text, TEXT_BYTES, "no memory for the sizes of its %d members", w->n);
		return abi.err_no_mem;
	}
	int failed = real.Comm_rank(m->comm, &w->me);
	if (failed || (failed = share_sizes(w, m, sizes))) {
		free(sizes);
		return failed;
	}
	w->base = m->base;
	w->size = m->size;
	w->unit = (int)m->unit;
	w->flavor = m->flavor;
	failed = error_class(allocate(w, m, own_bytes(m, w, sizes), text));
	free(sizes);
	failed = failed ? failed : make_handle(w, m, text);
	uint64_t addr = m->flavor == FLAVOR_CREATE ? (uintptr_t)m->base : w->memory;
	return exchange(w, m,
		(struct card){.addr = addr,
			.size = m->flavor == FLAVOR_DYNAMIC ? UINT64_MAX : (uint64_t)m->size,
			.block = (uintptr_t)w->block,
			.word = w->block ? w->block->lock.word : 0,
			.unit = m->unit,
			.world = world[w->me],
			.arena = !w->exposed_memory,
			.lent = w->lent,
			.key = w->key,
			.failed = failed},
		text);
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
	handle group = 0;
	bool no_memory = false;
	int n, *world = job.running ? world_ranks(m->comm, &group, &n, &no_memory) : NULL;
	if (no_memory)
		return rma_comm_error(m->comm, m->function, abi.err_no_mem,
			"no memory for the list of its members");
	if (!world || (m->flavor == FLAVOR_SHARED && !all_here(world, n))) {
		if (world)
			real.Group_free(&group);
		free(world);
		rma_passed_through(m->comm);
		return RMA_PASS;
	}
	struct rma_win *w = new_window(n);
	if (w)
		w->group = group;
	else
		snprintf(text, TEXT_BYTES, "no memory for a window");
	int failed = w ? build(w, m, world, text) : abi.err_no_mem;
	free(world);
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
