// SPDX-License-Identifier: BSD-3-Clause
// model.h - the sequential side of model.c: what an operation is, how a random one is drawn (the
// same on every rank from the same seed), and what it does to a plain image of all memories. No
// ARMCI call here.
#ifndef MODEL_H
#define MODEL_H

#include "check.h"
#include "shape.h"

enum {
	SLAB = 8192,       // bytes of the part of a region that one rank alone writes in a phase
	COMMON = 4096,     // bytes of the part into which all ranks accumulate longs
	COUNTERS = 16,     // longs that all ranks change, each by operations of one kind
	SEGMENTS = 12,
};

enum kind { PUT, GET, ACC, RMW, VALUE, LOCKED, KINDS };
enum form { CONTIGUOUS, STRIDED, VECTOR, FORMS };

struct operation {
	enum kind kind;
	enum form form;
	int target, common;     // common: an accumulate into the part of all ranks
	int nonblocking;        // 0 blocking, 1 explicit handle, 2 implicit
	long scale;
	uint64_t salt;          // of the local data
	int n;                  // rows
	int bytes;              // of each row
	// offsets of the rows within the slab or common part, and locally
	long far[2048], near[2048];
	struct shape shape;     // of the strided form
	long far_at;            // where the strided form begins
};

// What all ranks do to a counter: then the result does not depend on the order.
enum change { ADD, XOR, OR, AND };
static inline int model_counter(const struct operation *o) { return (int)(o->salt % COUNTERS); }
static inline enum change model_change(const struct operation *o)
{
	return model_counter(o) < 10 ? ADD : (enum change)(1 + (model_counter(o) - 10) / 2);
}
static inline uint64_t model_operand(const struct operation *o)
{
	uint64_t bit = (uint64_t)1 << (o->salt >> 8) % 64;
	enum change c = model_change(o);
	return c == ADD ? (uint64_t)o->scale : c == XOR ? o->salt : c == OR ? bit : ~bit;
}

// The layout of one rank's region: np slabs, the common part, the counters, one guarded word, and
// one that is put before a notification.
static inline size_t model_common(void) { return (size_t)SLAB * (size_t)np; }
static inline size_t model_counters(void) { return model_common() + COMMON; }
static inline size_t model_guarded(void) { return model_counters() + COUNTERS * sizeof(long); }
static inline size_t model_noted(void) { return model_guarded() + sizeof(long); }
static inline size_t model_region(void) { return model_noted() + sizeof(long); }

static inline void draw_contiguous(struct operation *o, uint64_t *rng, int room)
{
	o->n = 1;
	o->bytes = 8 * check_between(rng, 1, check_between(rng, 1, room / 8));
	o->far[0] = 8 * check_between(rng, 0, (room - o->bytes) / 8);
	o->near[0] = 8 * check_between(rng, 0, (SLAB - o->bytes) / 8);
}

static inline void draw_vector(struct operation *o, uint64_t *rng, int room)
{
	int cell = room / SEGMENTS / 8 * 8;
	o->n = check_between(rng, 1, SEGMENTS);
	o->bytes = 8 * check_between(rng, 1, cell / 8);
	for (int i = 0; i < o->n; i++) {
		o->far[i] = (long)i * cell + 8 * check_between(rng, 0, (cell - o->bytes) / 8);
		o->near[i] = (long)(o->n - 1 - i) * cell;
	}
}

static inline void draw_strided(struct operation *o, uint64_t *rng, int room)
{
	struct shape *s = &o->shape;
	int idx[SHAPE_LEVELS + 1] = {0};
	do {
		*s = shape_random(rng, check_between(rng, 0, 4), 8);
	} while (s->src_extent > SLAB || s->dst_extent > room || s->volume / s->count[0] > 2048);
	o->far_at = 8 * check_between(rng, 0, (int)(room - s->dst_extent) / 8);
	o->bytes = s->count[0];
	o->n = 0;
	do {
		o->near[o->n] = shape_offset(s, idx, s->src);
		o->far[o->n++] = o->far_at + shape_offset(s, idx, s->dst);
	} while (shape_next(s, idx));
}

// The next operation of a rank's stream.
static inline void draw(struct operation *o, uint64_t *rng)
{
	o->kind = (enum kind)check_between(rng, 0, KINDS - 1);
	o->form = (enum form)check_between(rng, 0, FORMS - 1);
	o->target = check_between(rng, 0, np - 1);
	o->common = o->kind == ACC && check_between(rng, 0, 1);
	o->nonblocking = check_between(rng, 0, 2);
	o->scale = check_between(rng, -4, 4);
	o->salt = check_random(rng);
	int room = o->common ? COMMON : SLAB;
	if (o->form == CONTIGUOUS || o->kind == RMW || o->kind == VALUE || o->kind == LOCKED)
		draw_contiguous(o, rng, room);
	else if (o->form == STRIDED)
		draw_strided(o, rng, room);
	else
		draw_vector(o, rng, room);
}

// The local data of an operation.
static inline void model_local(const struct operation *o, unsigned char local[SLAB])
{
	check_fill(local, SLAB, o->salt);
}

// Offset in the target's region where the rows' offsets count from.
static inline size_t model_base(const struct operation *o, int slab)
{
	return o->common ? model_common() : (size_t)slab * SLAB;
}

static inline void model_acc(unsigned char *far, const unsigned char *near, int bytes, long scale)
{
	for (int i = 0; i < bytes; i += 8) {
		uint64_t a, b;
		memcpy(&a, far + i, 8);
		memcpy(&b, near + i, 8);
		a += (uint64_t)scale * b;
		memcpy(far + i, &a, 8);
	}
}

static inline void model_count(const struct operation *o, unsigned char *counter)
{
	uint64_t v, x = model_operand(o);
	memcpy(&v, counter, sizeof v);
	switch (model_change(o)) {
	case ADD: v += x; break;
	case XOR: v ^= x; break;
	case OR: v |= x; break;
	case AND: v &= x; break;
	}
	memcpy(counter, &v, sizeof v);
}

// What the operation does to the target's image; a get fills local instead.
static inline void model_apply(const struct operation *o, unsigned char *image, int slab,
	unsigned char *local)
{
	unsigned char *part = image + model_base(o, slab);
	if (o->kind == RMW) {
		model_count(o, image + model_counters() + (size_t)model_counter(o) * sizeof(long));
		return;
	}
	if (o->kind == LOCKED) {
		long one = 1;
		model_acc(image + model_guarded(), (const unsigned char *)&one, 8, 1);
		return;
	}
	for (int i = 0; i < o->n; i++)
		if (o->kind == PUT)
			memcpy(part + o->far[i], local + o->near[i], (size_t)o->bytes);
		else if (o->kind == GET)
			memcpy(local + o->near[i], part + o->far[i], (size_t)o->bytes);
		else if (o->kind == ACC)
			model_acc(part + o->far[i], local + o->near[i], o->bytes, o->scale);
		else
			memcpy(part + o->far[i], local + o->near[i], 8);
}

// All ranks draw all streams; each performs its own and applies the others' to the images.
static inline void model_streams(uint64_t seed, int number, int steps, unsigned char **image,
	void (*perform)(struct operation *, int slab))
{
	static struct operation now;
	static unsigned char local[SLAB];
	for (int r = 0; r < np; r++) {
		uint64_t rng = seed + (uint64_t)number * 1000003 + (uint64_t)r * 7919;
		int slab = (r + number) % np;
		for (int i = 0; i < steps; i++) {
			draw(&now, &rng);
			if (r == me) {
				perform(&now, slab);
			} else {
				model_local(&now, local);
				model_apply(&now, image[now.target], slab, local);
			}
		}
	}
}

// Behind its stream each rank stores a word at another one and notifies it: to which, changes with
// the phase. Applies that to the images, and returns the distance between the two.
static inline int model_note(unsigned char **image, int number)
{
	int step = number % np;
	for (int r = 0; r < np; r++) {
		long word = (long)number * np + r;
		memcpy(image[(r + step) % np] + model_noted(), &word, sizeof word);
	}
	return step;
}

#endif
