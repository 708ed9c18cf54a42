// SPDX-License-Identifier: BSD-3-Clause
// Baselines on a node, by the names of the operations: memcpy called through a pointer, a loop of
// them, a vectorised loop without a lock, an atomic instruction, a process-shared mutex, a barrier
// and a mailbox in shared memory.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { BOX = 1 << 20 };

// What all ranks share, in memory of rank 0.
struct shared {
	_Alignas(BENCH_LINE) pthread_mutex_t mutex;
	_Alignas(BENCH_LINE) volatile long guarded;
	_Alignas(BENCH_LINE) _Atomic long counter;
	struct bench_barrier barrier;
	struct box { // one direction of the mailbox
		_Alignas(BENCH_LINE) _Atomic long full;
		_Alignas(BENCH_LINE) char data[BOX];
	} box[2];
};

static struct shared *shared;
static struct bench_gate gate;
static void *(*volatile copier)(void *, const void *, size_t) = memcpy;

struct bench_gate *bench_gate(void) { return &gate; }

void bench_gate_pass(struct bench_gate *g)
{
	struct bench_barrier *b = g->shared;
	int sense = g->sense = !g->sense;
	if (atomic_fetch_add(&b->arrived, 1) + 1 == perf_n) {
		atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
		atomic_store_explicit(&b->sense, sense, memory_order_release);
		return;
	}
	for (int i = 0; atomic_load_explicit(&b->sense, memory_order_acquire) != sense; i++)
		bench_wait(i);
}

static void init_mutex(pthread_mutex_t *m)
{
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(m, &a);
	pthread_mutexattr_destroy(&a);
}

void bench_node_ready(void)
{
	void **all = calloc((size_t)perf_n, sizeof *all);
	perf_need(all && ARMCI_Malloc(all, perf_me == 0 ? (armci_size_t)sizeof *shared : 0) == 0,
		"ARMCI_Malloc");
	shared = all[0];
	free(all);
	if (perf_me == 0) {
		memset(shared, 0, sizeof *shared);
		init_mutex(&shared->mutex);
	}
	gate.shared = &shared->barrier;
	ARMCI_Barrier();
}

void bench_node_end(void) { ARMCI_Free(perf_me == 0 ? shared : NULL); }

#define COPY(name, to, from)                                                                 \
	static void name(void *arg, long n)                                                  \
	{                                                                                    \
		struct perf_transfer *t = arg;                                               \
		void *(*copy)(void *, const void *, size_t) = copier;                        \
		for (long i = 0; i < n; i++) copy(t->to, t->from, (size_t)t->count[0]);      \
	}
COPY(copy_out, theirs, mine)
COPY(copy_in, mine, theirs)

// The copy and the instruction that orders it before what follows: what a fence needs at least.
static void copy_fence(void *arg, long n)
{
	for (long i = 0; i < n; i++) {
		copy_out(arg, 1);
		atomic_thread_fence(memory_order_seq_cst);
	}
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDEST __attribute__((noinline, target_clones("default", "avx2", "avx512f")))
#else
#define WIDEST __attribute__((noinline))
#endif
typedef double eight __attribute__((vector_size(64), aligned(8), may_alias));

// Eight doubles at a time, two of those in flight, no lock.
WIDEST void bench_add(double *to, const double *from, long n)
{
	long i = 0;
	for (; i + 16 <= n; i += 16) {
		eight *d = (eight *)(to + i);
		const eight *s = (const eight *)(from + i);
		d[0] += s[0];
		d[1] += s[1];
	}
	for (; i < n; i++) to[i] += from[i];
}

#define ROWS(name, each) \
	static void name(void *arg, long n) \
	{ \
		struct perf_transfer *t = arg; \
		size_t bytes = (size_t)t->count[0]; \
		for (long i = 0; i < n; i++) { \
			for (long row = 0, at; at = row * t->stride[0], row < t->count[1]; row++) \
				each; \
			bench_opaque(t); \
		} \
	}
ROWS(rows_out, memcpy(t->theirs + at, t->mine + at, bytes))
ROWS(rows_in, memcpy(t->mine + at, t->theirs + at, bytes))
ROWS(rows_add,
	bench_add((double *)(void *)(t->theirs + at), (double *)(void *)(t->mine + at),
		(long)bytes / 8))

PERF_BODY(add_raw,
	  bench_add((double *)(void *)t->theirs, (double *)(void *)t->mine, t->count[0] / 8);
	  bench_opaque(t))

static void assign(const armci_giov_t *v)
{
	for (int k = 0; k < v->ptr_array_len; k++)
		*(double *)v->dst_ptr_array[k] = *(double *)v->src_ptr_array[k];
	bench_opaque(v->dst_ptr_array);
}
PERF_BODY(scatter, assign(&t->put))
PERF_BODY(gather, assign(&t->get))

static void batch(const armci_giov_t *v)
{
	void *(*copy)(void *, const void *, size_t) = copier;
	for (int k = 0; k < v->ptr_array_len; k++)
		copy(v->dst_ptr_array[k], v->src_ptr_array[k], 8);
}
PERF_BODY(copy_batch, batch(&t->put))

PERF_BODY(fetch_add, long old = atomic_fetch_add(&shared->counter, 1); bench_opaque(&old))
PERF_BODY(exchange, int old = atomic_exchange((_Atomic int *)(void *)(t->theirs + 128), 1);
	  bench_opaque(&old))
PERF_BODY(mutex, pthread_mutex_lock(&shared->mutex); shared->guarded++;
	  pthread_mutex_unlock(&shared->mutex))
PERF_BODY(barrier, bench_gate_pass(&gate))

static long messages; // there and back

static void send_message(struct perf_transfer *t)
{
	struct box *b = &shared->box[perf_me != 0];
	memcpy(b->data, t->mine, (size_t)t->count[0]);
	atomic_store_explicit(&b->full, ++messages, memory_order_release);
}

static void receive_message(struct perf_transfer *t)
{
	struct box *b = &shared->box[perf_me == 0];
	messages++;
	for (int i = 0; atomic_load_explicit(&b->full, memory_order_acquire) != messages; i++)
		bench_wait(i);
	memcpy(t->mine, b->data, (size_t)t->count[0]);
}

static void half_trips(void *arg, long n)
{
	perf_half_trips(arg, n, send_message, receive_message);
}

static const struct {
	const char *op;
	perf_body body;
} baselines[] = {
	{"put", copy_out}, {"get", copy_in}, {"put-value", copy_out}, {"get-value", copy_in},
	{"put+fence", copy_fence}, {"put-bandwidth", copy_out}, {"get-bandwidth", copy_in},
	{"put-strided", rows_out}, {"get-strided", rows_in}, {"acc-strided", rows_add},
	{"put-vector", scatter}, {"get-vector", gather}, {"nbput-implicit", copy_batch},
	{"nbput-handles", copy_batch}, {"nbput-aggregate", copy_batch}, {"acc", add_raw},
	{"fetch-add", fetch_add}, {"swap", exchange}, {"fetch-add-contended", fetch_add},
	{"lock+unlock", mutex}, {"lock-contended", mutex}, {"barrier", barrier},
	{"msg-barrier", barrier}, {"message", half_trips},
	{"put+notify", half_trips}, {"put-flag", half_trips}, {"notify", half_trips},
};

// An accumulate of one element beside a put of it, both by the library as Global Arrays calls it.
PERF_BODY(put_one, ARMCI_PutS(t->mine, t->stride, t->theirs, t->stride, t->count, 1, perf_peer))

bool bench_node_baseline(struct perf_case *c, int k)
{
	for (size_t i = 0; k == 0 && i < sizeof baselines / sizeof baselines[0]; i++)
		if (strcmp(c->op, baselines[i].op) == 0) {
			c->raw = baselines[i].body;
			return true;
		}
	if (k != 1 || strcmp(c->op, "acc-strided") != 0 || c->bytes != 8)
		return false;
	c->op = "acc-strided/put";
	c->raw = put_one;
	return true;
}
