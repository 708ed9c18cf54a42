/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model.c - random OpenSHMEM calls of every kind by all PEs against a sequential model, phase by
 * phase: the model and the operations are those of ../c/model.c. Memory is of the heap or the
 * program's own, calls are of the default context or of one of the PE. MODEL_SECONDS says how long
 * (2), MODEL_SEED repeats a run.
 */
#include "../c/model.h"
#include <shmem.h>
#include <time.h>

enum { STEPS = 40, MOST_PES = 16 };

static char own_region[(MOST_PES + 2) * SLAB]; /* symmetric without a call */
static long locks[MOST_PES];
static uint64_t signals[MOST_PES], seed;
static int more;

static char *region; /* of every PE */
static shmem_ctx_t ctx, private_ctx;
static unsigned char **image; /* of every PE's region */
static unsigned char local[SLAB], want[SLAB];

/* One row of a put or get. */
static void row(const struct operation *o, char *far, unsigned char *near)
{
	size_t n = (size_t)o->bytes;
	int to = o->target, way = (int)(o->salt >> 12) % 3;
	if (o->kind == PUT && o->nonblocking)
		shmem_ctx_putmem_nbi(ctx, far, near, n, to);
	else if (o->kind == PUT && way == 0)
		shmem_ctx_putmem(ctx, far, near, n, to);
	else if (o->kind == PUT && way == 1)
		shmem_ctx_put64(ctx, far, near, n / 8, to);
	else if (o->kind == PUT)
		shmem_ctx_iput64(ctx, far, near, 1, 1, n / 8, to);
	else if (o->nonblocking)
		shmem_ctx_getmem_nbi(ctx, near, far, n, to);
	else if (way == 0)
		shmem_ctx_getmem(ctx, near, far, n, to);
	else if (way == 1)
		shmem_ctx_get64(ctx, near, far, n / 8, to);
	else
		shmem_ctx_iget64(ctx, near, far, 1, 1, n / 8, to);
}

/* Sums of longs, one by one, with or without the value before. */
static void sums(const struct operation *o, char *far, const unsigned char *near)
{
	for (int i = 0; i < o->bytes; i += 8) {
		long v;
		memcpy(&v, near + i, sizeof v);
		v = (long)((unsigned long)v * (unsigned long)o->scale);
		if (o->nonblocking == 0 && i == 0)
			(void)shmem_ctx_long_atomic_fetch_add(ctx, (long *)(far + i), v, o->target);
		else
			shmem_ctx_long_atomic_add(ctx, (long *)(far + i), v, o->target);
	}
}

static void transfer(struct operation *o, char *there)
{
	for (int i = 0; i < o->n; i++)
		if (o->kind == ACC)
			sums(o, there + o->far[i], local + o->near[i]);
		else
			row(o, there + o->far[i], local + o->near[i]);
	if (o->nonblocking)
		shmem_ctx_quiet(ctx);
}

static void counted(const struct operation *o)
{
	unsigned long *word = (unsigned long *)(region + model_counters()) + model_counter(o);
	unsigned long x = model_operand(o), old;
	int to = o->target, fetches = (int)(o->salt >> 6) % 3;
#define CHANGE(op) \
	(fetches == 0 ? shmem_ctx_ulong_atomic_##op(ctx, word, x, to) : \
	 fetches == 1 ? (void)shmem_ctx_ulong_atomic_fetch_##op(ctx, word, x, to) : \
			(shmem_ctx_ulong_atomic_fetch_##op##_nbi(ctx, &old, word, x, to), \
				shmem_ctx_quiet(ctx)))
	switch (model_change(o)) {
	case ADD: CHANGE(add); break;
	case XOR: CHANGE(xor); break;
	case OR: CHANGE(or); break;
	case AND: CHANGE(and); break;
	}
}

static void locked(const struct operation *o)
{
	long *word = (long *)(region + model_guarded());
	shmem_set_lock(&locks[o->target]);
	shmem_long_p(word, shmem_long_g(word, o->target) + 1, o->target);
	shmem_clear_lock(&locks[o->target]);
}

/* Does one of my operations and checks what it brings. */
static void perform(struct operation *o, int slab)
{
	char *there = region + model_base(o, slab);
	long v;
	ctx = o->salt % 3 ? SHMEM_CTX_DEFAULT : private_ctx;
	model_local(o, local);
	memcpy(want, local, SLAB);
	model_apply(o, image[o->target], slab, want);
	if (o->kind == RMW) {
		counted(o);
	} else if (o->kind == VALUE) {
		memcpy(&v, local + o->near[0], sizeof v);
		shmem_ctx_long_p(ctx, (long *)(there + o->far[0]), v, o->target);
		CHECK_INT(shmem_ctx_long_g(ctx, (long *)(there + o->far[0]), o->target), v);
	} else if (o->kind == LOCKED) {
		locked(o);
	} else {
		transfer(o, there);
	}
	/* the contexts are ordered each for itself, and the next operation may use the other */
	shmem_ctx_quiet(ctx);
	CHECK_MEM(local, want, SLAB);
}

/* Each PE puts a word to another one with a signal, which that one waits for. */
static void put_and_signal(int number)
{
	static uint64_t seen[MOST_PES];
	int step = model_note(image, number), to = (me + step) % np, from = (me + np - step) % np;
	long word = (long)number * np + me;
	shmem_putmem_signal(region + model_noted(), &word, sizeof word, &signals[me], 1,
		SHMEM_SIGNAL_ADD, to);
	seen[from]++;
	CHECK_INT(shmem_signal_wait_until(&signals[from], SHMEM_CMP_GE, seen[from]), seen[from]);
	memcpy(&word, region + model_noted(), sizeof word);
	CHECK_INT(word, (long)number * np + from);
}

static void phase(int number)
{
	model_streams(seed, number, STEPS, image, perform);
	put_and_signal(number);
	shmem_barrier_all();
	CHECK_MEM(region, image[me], model_region());
	int other = (me + 1 + number) % np;
	unsigned char *copy = check_alloc(model_region());
	shmem_getmem(copy, region, model_region(), other);
	CHECK_MEM(copy, image[other], model_region());
	free(copy);
	shmem_sync_all();
}

static void fill(int number)
{
	for (int r = 0; r < np; r++)
		check_fill(image[r], model_region(), seed + (uint64_t)(number + r));
	memcpy(region, image[me], model_region());
	shmem_barrier_all();
}

int main(void)
{
	shmem_init();
	me = shmem_my_pe();
	np = shmem_n_pes();
	CHECK(np <= MOST_PES && sizeof own_region >= model_region());
	CHECK_OK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &private_ctx));
	double seconds = check_setting("MODEL_SECONDS", 2), began = armci_timer();
	seed = (uint64_t)check_setting("MODEL_SEED", (double)(time(NULL) % 1000000000));
	shmem_broadcastmem(SHMEM_TEAM_WORLD, &seed, &seed, sizeof seed, 0);
	if (me == 0)
		printf("MODEL_SEED=%" PRIu64 " for %g s\n", seed, seconds);
	fflush(stdout);
	image = check_alloc(sizeof *image * (size_t)np);
	for (int r = 0; r < np; r++) image[r] = check_alloc(model_region());
	char *heap = shmem_malloc(model_region());
	int number = 0;
	for (more = 1; more; number++) {
		if (number % 10 == 0) {
			region = number % 20 ? own_region : heap;
			fill(number);
		}
		phase(number);
		more = armci_timer() - began < seconds;
		shmem_broadcastmem(SHMEM_TEAM_WORLD, &more, &more, sizeof more, 0);
	}
	if (me == 0)
		printf("%d phases, %d operations\n", number, number * np * STEPS);
	shmem_free(heap);
	shmem_ctx_destroy(private_ctx);
	int first = me == 0;
	shmem_finalize();
	if (first)
		printf("ok model\n");
	return 0;
}
