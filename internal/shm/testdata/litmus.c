// SPDX-License-Identifier: BSD-3-Clause
// Orders of memory that the node's C code promises, with two threads as two ranks and plain data
// between them: under the thread sanitizer, which knows C11's order and not the processor's, each
// missing acquire or release is a data race. Compiled with the sources of internal/shm and
// internal/kernel, without Go. Prints "ok litmus".
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../shm.h"

#define ARENA ((size_t)2 << 30)
enum { ROUNDS = 20000 };

static struct shm_mutex mutex;
static struct shm_rwlock rwlock;
static struct shm_event event;
static struct shm_context *context;
static struct shm_team team[2];
static long plain, pair[2];
static _Atomic uint32_t flag[2];
static _Atomic long seen[2];
static _Atomic int failures;

static void expect(const char *what, int ok)
{
	if (ok)
		return;
	fprintf(stderr, "litmus: %s\n", what);
	atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed);
}

// Mutual exclusion, and what the last holder stored.
static void exclusive(int me)
{
	for (int i = 0; i < ROUNDS; i++) {
		shm_lock(&mutex, (uint32_t)me + 1);
		plain++;
		shm_unlock(&mutex);
	}
}

// Readers see both halves of what a writer stores, never one.
static void readers_and_writers(int me)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 4 == 0) {
			shm_exclude(&rwlock, (uint32_t)me + 1);
			pair[0]++;
			pair[1]++;
			shm_unexclude(&rwlock);
		} else {
			shm_share(&rwlock, (uint32_t)me + 1);
			expect("a writer among readers", pair[0] == pair[1]);
			shm_unshare(&rwlock);
		}
	}
}

// Each reads what the other stored before the barrier.
static void barriers(int me)
{
	static long mine[2];
	for (long i = 1; i < ROUNDS / 4; i++) {
		mine[me] = i;
		shm_barrier(&team[me]);
		expect("a store before a barrier is missing", mine[!me] == i);
		shm_barrier(&team[me]);
	}
}

// Message passing: data, then the event's count. The consumer answers by another store.
static void events(int me)
{
	static long data;
	static _Atomic uint32_t back;
	for (uint32_t i = 0; i < ROUNDS / 4; i++) {
		if (me == 0) {
			data = i;
			shm_event_add(&event, 1);
			while (atomic_load_explicit(&back, memory_order_acquire) != i + 1)
				sched_yield();
		} else {
			while (atomic_load(&event.count) == i)
				shm_event_wait(&event, i, 10, "litmus");
			expect("data behind an event", data == (long)i);
			atomic_store_explicit(&back, i + 1, memory_order_release);
		}
	}
}

// Store buffering: each stores its flag, fences and reads the other's; not both may read the old
// one.
static void store_buffering(int me)
{
	for (uint32_t i = 1; i < ROUNDS / 4; i++) {
		atomic_store_explicit(&flag[me], i, memory_order_relaxed);
		atomic_thread_fence(memory_order_seq_cst);
		atomic_store(&seen[me], atomic_load_explicit(&flag[!me], memory_order_relaxed));
		shm_barrier(&team[me]);
		expect("both fences were overtaken",
			atomic_load(&seen[0]) >= i || atomic_load(&seen[1]) >= i);
		shm_barrier(&team[me]);
	}
}

// The seqlock of the region table: a reader finds whole regions, whatever the owner does.
static void regions(int me)
{
	const uint64_t lo = 1 << 20;
	for (int i = 0; i < ROUNDS; i++) {
		struct shm_found f;
		if (me == 0) {
			uint64_t at = lo + (uint64_t)(i % 8) * 4096;
			expect("no room for a region",
				shm_region_add(at, at + 4096) == 0 && shm_region_drop(at) == 0);
		} else if (shm_find(0, lo + (uint64_t)(i % 8) * 4096, &f)) {
			expect("half a region", f.hi - f.lo == 4096 && f.gen % 2 == 0);
		}
	}
}

static void *rank(void *arg)
{
	int me = arg != NULL;
	void (*const part[])(
		int) = {exclusive, readers_and_writers, barriers, events, store_buffering, regions};
	for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
		part[i](me);
		shm_barrier(&team[me]);
	}
	return NULL;
}

int main(void)
{
	struct shm_head plan;
	void *base = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED || !shm_plan(&plan, ARENA, 2, 2))
		return 2;
	shm_format(base, &plan);
	if (shm_attach(base, 0, 0, 1) != 0)
		return 2;
	context = (struct shm_context *)(shm.base + shm.head->context_off);
	int members[] = {0, 1};
	for (int i = 0; i < 2; i++) {
		team[i] = (struct shm_team){.context = context, .n = 2, .me = i, .local = members};
		shm.rank[i].world = i;
	}
	pthread_t other;
	pthread_create(&other, NULL, rank, base);
	rank(NULL);
	pthread_join(other, NULL);
	expect("lost increments under a mutex", plain == 2 * ROUNDS);
	expect("lost increments of writers", pair[0] == 2 * ROUNDS / 4 && pair[1] == pair[0]);
	if (failures)
		return 1;
	puts("ok litmus");
	return 0;
}
