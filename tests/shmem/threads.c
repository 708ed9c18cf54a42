/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a PE use the default context and contexts of their own at once. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 3, ROUNDS = 200 };

static long slot[THREADS], counter, turn[THREADS];

static void *work(void *arg)
{
	int t = *(int *)arg;
	shmem_ctx_t ctx;
	CHECK(shmem_ctx_create(t ? SHMEM_CTX_PRIVATE : 0, &ctx) == 0);
	for (long i = 1; i <= ROUNDS; i++) {
		shmem_ctx_long_put_nbi(ctx, &slot[t], &i, 1, right);
		shmem_ctx_quiet(ctx);
		shmem_long_atomic_inc(&counter, right);
		shmem_long_p(&turn[t], i, right);
		shmem_quiet();
		shmem_long_wait_until(&turn[t], SHMEM_CMP_GE, i);
		CHECK(shmem_long_g(&slot[t], right) == i);
	}
	shmem_ctx_destroy(ctx);
	return NULL;
}

int main(void)
{
	int provided, number[THREADS];
	pthread_t thread[THREADS];
	shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
	me = shmem_my_pe();
	n = shmem_n_pes();
	right = (me + 1) % n;
	for (int t = 0; t < THREADS; t++) {
		number[t] = t;
		CHECK(pthread_create(&thread[t], NULL, work, &number[t]) == 0);
	}
	for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
	shmem_barrier_all();
	CHECK(counter == THREADS * ROUNDS);
	return end("threads");
}
