/* SPDX-License-Identifier: BSD-3-Clause */
/* The type-generic names of C11 choose the right function, with and without a context. */
#include <complex.h>

#include "check.h"

static double d, ds[8];
static long double ld;
static int i32[8];
static unsigned long long ull;
static uint64_t signal;
static double _Complex z[2];
static short s16;

int main(void)
{
	begin();
	shmem_ctx_t ctx;
	CHECK(shmem_ctx_create(0, &ctx) == 0);
	shmem_barrier_all();
	shmem_p(&d, me + 0.5, right);
	shmem_p(ctx, &ld, me + 0.25L, right);
	shmem_ctx_quiet(ctx);
	shmem_barrier_all();
	CHECK(d == left + 0.5 && ld == left + 0.25L);
	const double *read_only = &d;
	CHECK(shmem_g(read_only, right) == me + 0.5 && shmem_g(ctx, &ld, right) == me + 0.25L);
	double values[4] = {1, 2, 3, me};
	shmem_put(ds, values, 4, right);
	shmem_put_nbi(ctx, ds + 4, values, 4, right);
	shmem_ctx_quiet(ctx);
	shmem_barrier_all();
	CHECK(ds[2] == 3 && ds[3] == left && ds[7] == left);
	double back[4];
	shmem_get(ctx, back, ds, 4, right);
	shmem_iget(back, ds, 1, 2, 2, right);
	CHECK(back[1] == 3 && back[3] == me);
	shmem_atomic_add(&ull, 5, right);
	CHECK(shmem_atomic_fetch_add(ctx, &ull, 1, right) == 5);
	CHECK(shmem_atomic_compare_swap(&ull, 6, 7, right) == 6);
	CHECK(shmem_atomic_fetch_xor(&ull, 1, right) == 7);
	CHECK(shmem_atomic_swap(&d, 9.0, right) == me + 0.5);
	shmem_barrier_all();
	CHECK(ull == 6 && d == 9.0);
	shmem_put_signal(i32, i32, 1, &signal, 4, SHMEM_SIGNAL_SET, right);
	shmem_wait_until(&signal, SHMEM_CMP_EQ, 4);
	shmem_p(&s16, (short)3, right);
	shmem_wait_until(&s16, SHMEM_CMP_EQ, 3);
	CHECK(shmem_test(&s16, SHMEM_CMP_EQ, 3) && shmem_test_all(&s16, 1, NULL, SHMEM_CMP_EQ, 3));
	z[0] = 1 + me * (double _Complex)_Complex_I;
	CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, z + 1, z, 1) == 0);
	CHECK(z[1] == n + n * (n - 1) / 2 * (double _Complex)_Complex_I);
	i32[0] = me;
	CHECK(shmem_max_reduce(SHMEM_TEAM_WORLD, i32 + 1, i32, 1) == 0 && i32[1] == n - 1);
	CHECK(shmem_broadcast(SHMEM_TEAM_WORLD, i32 + 2, i32, 1, 0) == 0 && i32[2] == 0);
	shmem_sync(SHMEM_TEAM_WORLD);
	static long sync_array[SHMEM_SYNC_SIZE];
	shmem_sync(0, 0, n, sync_array);
	CHECK(shmem_fadd(&i32[3], 2, me) == 0 && shmem_fetch(&i32[3], me) == 2);
	CHECK(shmem_finc(&ull, me) == 6 && shmem_swap(&d, 1.5, me) == 9.0);
	shmem_ctx_destroy(ctx);
	return end("generic");
}
