// SPDX-License-Identifier: BSD-3-Clause
// The arena of the cases: empty for each execution. Not compiled for the sanitizer, whose interface
// it serves.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../internal/shm/shm.h"
#include "litmus.h"

#define ARENA ((size_t)16 << 30)

void litmus_attach(int ranks)
{
	static void *base;
	struct shm_head plan;
	if (!base)
		base = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED || !shm_plan(&plan, ARENA, (uint32_t)ranks, (uint32_t)ranks))
		abort();
	if (shm.base)
		shm_detach();
	memset(base, 0, sizeof plan);
	shm_format(base, &plan);
	for (int i = ranks; i-- > 0;) {
		if (shm_attach(base, i, i, i + 1) != 0)
			abort();
		if (i > 0)
			shm_detach();
	}
	wait_policy_open(&shm.policy, 0, 0);
	wait_policy_open(&shm.remote_policy, 0, 0);
}

void *litmus_data(size_t offset) { return shm.base + shm.head->slice_off + offset; }

bool litmus_in_arena(uintptr_t at) { return shm.base && at - (uintptr_t)shm.base < shm.bytes; }

void litmus_become(int me) { shm.me = me; }
