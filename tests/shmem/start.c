/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end, numbers, what is accessible, the name and version. */
#include "check.h"

static int variable = 4;

int main(void)
{
	int provided = -1, major = 0, minor = 0;
	char name[SHMEM_MAX_NAME_LEN + 1];
	CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0);
	me = shmem_my_pe();
	n = shmem_n_pes();
	CHECK(provided == SHMEM_THREAD_MULTIPLE);
	shmem_query_thread(&provided);
	CHECK(provided == SHMEM_THREAD_MULTIPLE);
	CHECK(n >= 1 && me >= 0 && me < n);
	shmem_info_get_version(&major, &minor);
	CHECK(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION);
	shmem_info_get_name(name);
	CHECK(strcmp(name, SHMEM_VENDOR_STRING) == 0);
	shmem_pcontrol(1);
	int local, *block = shmem_malloc(sizeof *block), shared = 0;
	for (int pe = 0; pe < n; pe++) {
		CHECK(shmem_pe_accessible(pe));
		CHECK(shmem_addr_accessible(&variable, pe));
		CHECK(shmem_addr_accessible(block, pe));
		CHECK(!shmem_addr_accessible(&local, pe));
		CHECK(!shmem_ptr(&local, pe));
		CHECK(!shmem_ptr(block, pe) == !shmem_ptr(&variable, pe));
		shared += shmem_ptr(block, pe) != NULL;
	}
	CHECK(!shmem_pe_accessible(n) && !shmem_pe_accessible(-1));
	CHECK(shmem_ptr(&variable, me) == &variable && shmem_ptr(block, me) == block);
	CHECK(shmem_team_n_pes(SHMEM_TEAM_SHARED) == shared);
	for (int i = 0; i < shared; i++) {
		int pe = shmem_team_translate_pe(SHMEM_TEAM_SHARED, i, SHMEM_TEAM_WORLD);
		int *at = shmem_ptr(block, pe), *var = shmem_ptr(&variable, pe);
		CHECK(at && var);
		if (i == shmem_team_my_pe(SHMEM_TEAM_SHARED))
			*at = 10 + pe, *var = 20 + pe;
		shmem_team_sync(SHMEM_TEAM_SHARED);
		CHECK(*at == 10 + pe && *var == 20 + pe);
	}
	CHECK(*block == 10 + me && variable == 20 + me);
	shmem_free(block);
	return end("start");
}
