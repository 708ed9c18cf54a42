// SPDX-License-Identifier: BSD-3-Clause
// model.c - random operations of every kind by all ranks against a sequential model, phase by
// phase. In a phase a rank writes only its own slab of every region and accumulates or counts in
// the parts of all, so that the result is known whatever the timing. MODEL_SECONDS says how long
// (3), MODEL_SEED repeats a run.
#include "model.h"
#include <armcix.h>
#include <time.h>

enum { STEPS = 60 };

static void **base;
static unsigned char **image; // of every rank's region
static unsigned char local[SLAB], want[SLAB];

static char *remote(const struct operation *o, int slab)
{
	return (char *)base[o->target] + model_base(o, slab);
}

static armci_hdl_t *begin(const struct operation *o, armci_hdl_t *h)
{
	memset(h, (int)(o->salt & 255), sizeof *h); // whatever was there
	return o->nonblocking == 2 ? NULL : h;
}

static void end(const struct operation *o, armci_hdl_t *h)
{
	if (o->nonblocking == 1)
		CHECK_OK(ARMCI_Wait(h));
	else if (o->salt % 2)
		CHECK_OK(ARMCI_WaitAll());
	else
		CHECK_OK(ARMCI_WaitProc(o->target));
}

static void contiguous(struct operation *o, char *there)
{
	armci_hdl_t handle, *h = begin(o, &handle);
	char *near = (char *)local + o->near[0], *far = there + o->far[0];
	int to = o->target, n = o->bytes;
	if (!o->nonblocking) {
		CHECK_OK(o->kind == PUT ? ARMCI_Put(near, far, n, to) :
				o->kind == GET ?
					  ARMCI_Get(far, near, n, to) :
					  ARMCI_Acc(ARMCI_ACC_LNG, &o->scale, near, far, n, to));
		return;
	}
	int part = n; // of puts and gets that are open together
	if (o->kind != ACC && (o->salt >> 8) % 2)
		part = 1 + (int)((o->salt >> 9) % 200);
	for (int i = 0; i < n; i += part) {
		int m = part < n - i ? part : n - i;
		CHECK_OK(o->kind == PUT ? ARMCI_NbPut(near + i, far + i, m, to, h)
			: o->kind == GET ? ARMCI_NbGet(far + i, near + i, m, to, h)
			: ARMCI_NbAcc(ARMCI_ACC_LNG, &o->scale, near, far, n, to, h));
	}
	end(o, &handle);
}

static void strided(struct operation *o, char *there)
{
	armci_hdl_t handle, *h = begin(o, &handle);
	struct shape *s = &o->shape;
	char *far = there + o->far_at;
	int to = o->target, l = s->levels;
	if (!o->nonblocking) {
		CHECK_OK(o->kind == PUT ? ARMCI_PutS(local, s->src, far, s->dst, s->count, l, to) :
				o->kind == GET ?
					  ARMCI_GetS(far, s->dst, local, s->src, s->count, l, to) :
					  ARMCI_AccS(ARMCI_ACC_LNG, &o->scale, local, s->src, far,
						  s->dst, s->count, l, to));
		return;
	}
	CHECK_OK(o->kind == PUT ? ARMCI_NbPutS(local, s->src, far, s->dst, s->count, l, to, h) :
			o->kind == GET ?
				  ARMCI_NbGetS(far, s->dst, local, s->src, s->count, l, to, h) :
				  ARMCI_NbAccS(ARMCI_ACC_LNG, &o->scale, local, s->src, far, s->dst,
					  s->count, l, to, h));
	end(o, &handle);
}

static void vector(struct operation *o, char *there)
{
	armci_hdl_t handle, *h = begin(o, &handle);
	void *far[SEGMENTS], *near[SEGMENTS];
	for (int i = 0; i < o->n; i++) {
		near[i] = local + o->near[i];
		far[i] = there + o->far[i];
	}
	armci_giov_t d = {.src_ptr_array = o->kind == GET ? far : near,
		.dst_ptr_array = o->kind == GET ? near : far,
		.bytes = o->bytes,
		.ptr_array_len = o->n};
	int to = o->target;
	if (!o->nonblocking) {
		CHECK_OK(o->kind == PUT        ? ARMCI_PutV(&d, 1, to) :
				o->kind == GET ? ARMCI_GetV(&d, 1, to) :
						 ARMCI_AccV(ARMCI_ACC_LNG, &o->scale, &d, 1, to));
		return;
	}
	CHECK_OK(o->kind == PUT        ? ARMCI_NbPutV(&d, 1, to, h) :
			o->kind == GET ? ARMCI_NbGetV(&d, 1, to, h) :
					 ARMCI_NbAccV(ARMCI_ACC_LNG, &o->scale, &d, 1, to, h));
	end(o, &handle);
}

static void locked(const struct operation *o)
{
	char *word = (char *)base[o->target] + model_guarded();
	long v;
	ARMCI_Lock(0, o->target);
	CHECK_OK(ARMCI_Get(word, &v, sizeof v, o->target));
	v++;
	CHECK_OK(ARMCI_Put(&v, word, sizeof v, o->target));
	ARMCI_Unlock(0, o->target);
}

// By ARMCI_Rmw, or with or without the value before.
static void counted(const struct operation *o)
{
	static const int ops[] =
		{[ADD] = ARMCIX_ADD, [XOR] = ARMCIX_XOR, [OR] = ARMCIX_OR, [AND] = ARMCIX_AND};
	char *word = (char *)base[o->target] + model_counters() +
		(size_t)model_counter(o) * sizeof(long);
	uint64_t operand = model_operand(o), old;
	if (model_change(o) == ADD && (o->salt >> 5) % 2)
		CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, word, (int)o->scale, o->target));
	else
		CHECK_OK(ARMCIX_Atomic(ops[model_change(o)], 8, (o->salt >> 6) % 2 ? &old : NULL,
			word, &operand, NULL, o->target));
}

// Does one of my operations and checks what it brings.
static void perform(struct operation *o, int slab)
{
	char *there = remote(o, slab);
	long v;
	model_local(o, local);
	memcpy(want, local, SLAB);
	model_apply(o, image[o->target], slab, want);
	if (o->kind == RMW) {
		counted(o);
	} else if (o->kind == VALUE) {
		memcpy(&v, local + o->near[0], sizeof v);
		CHECK_OK(ARMCI_PutValueLong(v, there + o->far[0], o->target));
		CHECK_INT(ARMCI_GetValueLong(there + o->far[0], o->target), v);
	} else if (o->kind == LOCKED) {
		locked(o);
	} else if (o->form == CONTIGUOUS) {
		contiguous(o, there);
	} else if (o->form == STRIDED) {
		strided(o, there);
	} else {
		vector(o, there);
	}
	CHECK_MEM(local, want, SLAB);
}

// Each rank puts a word to another one and notifies it.
static void put_and_notify(int number)
{
	int step = model_note(image, number), to = (me + step) % np, from = (me + np - step) % np;
	int waits = 0, arrived;
	long word = (long)number * np + me;
	CHECK_OK(ARMCI_Put(&word, (char *)base[to] + model_noted(), sizeof word, to));
	CHECK(armci_notify(to) > 0);
	arrived = armci_notify_wait(from, &waits);
	CHECK(waits > 0 && arrived >= waits);
	memcpy(&word, (char *)base[me] + model_noted(), sizeof word);
	CHECK_INT(word, (long)number * np + from);
}

static void phase(uint64_t seed, int number)
{
	model_streams(seed, number, STEPS, image, perform);
	put_and_notify(number);
	ARMCI_Barrier();
	CHECK_MEM(base[me], image[me], model_region());
	int other = (me + 1 + number) % np;
	unsigned char *copy = check_alloc(model_region());
	CHECK_OK(ARMCI_Get(base[other], copy, (int)model_region(), other));
	CHECK_MEM(copy, image[other], model_region());
	free(copy);
	armci_msg_barrier();
}

static void start(uint64_t seed)
{
	base = check_malloc((armci_size_t)model_region());
	image = check_alloc(sizeof *image * (size_t)np);
	for (int r = 0; r < np; r++) {
		image[r] = check_alloc(model_region());
		check_fill(image[r], model_region(), seed + (uint64_t)r);
	}
	memcpy(base[me], image[me], model_region());
	CHECK_OK(ARMCI_Create_mutexes(1));
	ARMCI_Barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	double seconds = check_setting("MODEL_SECONDS", 3), began = armci_timer();
	uint64_t seed = (uint64_t)check_setting("MODEL_SEED", (double)(time(NULL) % 1000000000));
	armci_msg_bcast(&seed, sizeof seed, 0);
	if (me == 0)
		printf("MODEL_SEED=%" PRIu64 " for %g s\n", seed, seconds);
	fflush(stdout);
	start(seed);
	int more = 1, number = 0;
	for (; more; number++) {
		phase(seed, number);
		if (number % 20 == 19) { // new memory now and then
			check_free(base);
			CHECK_OK(ARMCI_Destroy_mutexes());
			for (int r = 0; r < np; r++)
				free(image[r]);
			free(image);
			start(seed + (uint64_t)number);
		}
		more = armci_timer() - began < seconds;
		armci_msg_bcast(&more, sizeof more, 0);
	}
	if (me == 0)
		printf("%d phases, %d operations\n", number, number * np * STEPS);
	CHECK_OK(ARMCI_Destroy_mutexes());
	check_free(base);
	return check_end("model");
}
