// SPDX-License-Identifier: BSD-3-Clause
// checkpoint.c - memory is saved, changed, and restored within one job: by blocks and by
// allocations, of a group, in part of the job's ranks, once and repeatedly; mistakes get their
// codes. What a later job finds is tests/checkpoint's.
#include "errors.h"
#include <armcix.h>
#include <dirent.h>
#include <sys/stat.h>

static char dir[64]; // of the files

// A directory of this job.
static void make_directory(void)
{
	strcpy(dir, "checkpoint.XXXXXX");
	if (me == 0)
		CHECK(mkdtemp(dir) != NULL);
	armci_msg_brdcst(dir, sizeof dir, 0);
}

static void remove_directory(void)
{
	ARMCI_Barrier();
	if (me != 0)
		return;
	DIR *d = opendir(dir);
	CHECK(d != NULL);
	for (struct dirent *e = readdir(d); e; e = readdir(d)) {
		char name[512];
		snprintf(name, sizeof name, "%s/%s", dir, e->d_name);
		if (e->d_name[0] != '.')
			remove(name);
	}
	closedir(d);
	CHECK_OK(rmdir(dir));
}

static char *prefix(const char *name)
{
	static char text[128];
	snprintf(text, sizeof text, "%s/%s", dir, name);
	return text;
}

// Blocks in an allocation and in private memory, one of them saved once; stores of other ranks are
// saved, too.
static void blocks(void)
{
	enum { BYTES = 300001 }; // no whole number of blocks or pages
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	void **base = check_malloc(BYTES);
	char *own = check_alloc(BYTES), *want = check_alloc(BYTES);
	int once = 100 + me, next = (me + 1) % np;
	check_fill(own, BYTES, (uint64_t)me);
	armci_ckpt_ds_t ds;
	ARMCI_Ckpt_create_ds(&ds, 4);
	CHECK_INT(ds.count, 4);
	ds.ptr_arr[0] = &once, ds.sz[0] = sizeof once, ds.saveonce[0] = 1;
	ds.ptr_arr[1] = base[me], ds.sz[1] = BYTES;
	ds.ptr_arr[2] = own, ds.sz[2] = BYTES;
	int rid = ARMCI_Ckpt_init(prefix("blocks"), &world, 0, 0, &ds);
	CHECK(rid > 0);
	free(ds.ptr_arr), free(ds.sz), free(ds.saveonce);
	CHECK_INT(ARMCIX_Ckpt_generation(rid), 0);
	for (int round = 1; round <= 5; round++) {
		check_fill(want, BYTES, (uint64_t)(1000 * round + me));
		// the checkpoint waits for it
		ARMCI_NbPut(want, base[next], BYTES, next, NULL);
		own[BYTES - 1] = (char)round;
		CHECK_INT(ARMCI_Ckpt(rid), ARMCI_CKPT);
		CHECK_INT(ARMCIX_Ckpt_generation(rid), round);
		once = -1;
		memset(base[me], 0, BYTES);
		memset(own, 0, BYTES);
		if (round % 2)
			ARMCI_Ckpt_Recover(rid, 0);
		else
			CHECK_INT(armci_irecover(rid, 0), 1);
		CHECK_INT(once, 100 + me);
		check_fill(want, BYTES, (uint64_t)(1000 * round + (me + np - 1) % np));
		CHECK_MEM(base[me], want, BYTES);
		check_fill(want, BYTES, (uint64_t)me);
		want[BYTES - 1] = (char)round;
		CHECK_MEM(own, want, BYTES);
		once = -2;       // saved by the first checkpoint only
		ARMCI_Barrier(); // all have compared what the next puts change
	}
	ARMCI_Ckpt_finalize(rid);
	check_free(base);
	free(own), free(want);
}

// All allocations of a group; two groups have records at the same time, with the library's names.
static void allocations(void)
{
	ARMCI_Group world, half;
	int size = 0;
	ARMCI_Group_get_world(&world);
	CHECK_OK(ARMCIX_Group_split(&world, me % 2, me, &half));
	ARMCI_Group_size(&half, &size);
	void *first[64], *second[64];
	CHECK(size <= 64);
	CHECK_OK(ARMCI_Malloc_group(first, 5000, &half));
	CHECK_OK(ARMCI_Malloc_group(second, me % 4 < 2 ? 70000 : 0, &half));
	int here;
	ARMCI_Group_rank(&half, &here);
	check_fill(first[here], 5000, 7);
	if (me % 4 < 2)
		check_fill(second[here], 70000, 8);
	CHECK_OK(chdir(dir));
	int rid = ARMCI_Ckpt_init(NULL, &half, 0, 0, NULL);
	CHECK(rid > 0);
	CHECK_INT(ARMCI_Ckpt(rid), ARMCI_CKPT);
	memset(first[here], 0, 5000);
	if (me % 4 < 2)
		memset(second[here], 0, 70000);
	ARMCI_Ckpt_Recover(rid, 1);
	char *want = check_alloc(70000);
	check_fill(want, 5000, 7);
	CHECK_MEM(first[here], want, 5000);
	check_fill(want, 70000, 8);
	if (me % 4 < 2)
		CHECK_MEM(second[here], want, 70000);
	free(want);
	CHECK_OK(chdir(".."));
	CHECK_OK(ARMCI_Free_group(first[here], &half));
	CHECK_INT(ARMCI_Ckpt(rid), FAIL8); // a block has been freed
	CHECK_OK(ARMCI_Free_group(second[here], &half));
	ARMCI_Group_free(&half); // ends the record
	ARMCI_Barrier();
}

// Mistakes.
static void mistakes(void)
{
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	armci_ckpt_ds_t ds;
	long block = 0, dims[1] = {np}, lo[1] = {me}, hi[1] = {me + 1};
	ARMCI_Ckpt_create_ds(&ds, 1);
	BAD(FAIL, ARMCI_Ckpt, "rid", ARMCI_Ckpt(12345));
	BAD(FAIL, armci_irecover, "rid", armci_irecover(12345, 0));
	BAD(FAIL, ARMCIX_Ckpt_generation, "rid", (int)ARMCIX_Ckpt_generation(12345));
	BAD_ONCE(FAIL, ARMCI_Ckpt_init, "savestack",
		ARMCI_Ckpt_init(prefix("wrong"), &world, 1, 0, &ds));
	BAD_ONCE(FAIL, ARMCI_Ckpt_init, "saveheap",
		ARMCI_Ckpt_init(prefix("wrong"), &world, 0, 1, &ds));
	ds.sz[0] = sizeof block;
	BAD_ONCE(FAIL, ARMCI_Ckpt_init, "ptr_arr[0]: null pointer",
		ARMCI_Ckpt_init(prefix("wrong"), &world, 0, 0, &ds));
	ds.ptr_arr[0] = (void *)64;
	BAD_ONCE(FAIL8, ARMCI_Ckpt_init, "ptr_arr[0]",
		ARMCI_Ckpt_init(prefix("wrong"), &world, 0, 0, &ds));
	ds.ptr_arr[0] = &block, ds.sz[0] = (size_t)-1;
	BAD_ONCE(FAIL3, ARMCI_Ckpt_init, "sz[0]",
		ARMCI_Ckpt_init(prefix("wrong"), &world, 0, 0, &ds));
	ds.sz[0] = sizeof block;
	BAD_ONCE(FAIL6, ARMCI_Ckpt_init, "filename",
		ARMCI_Ckpt_init(prefix("no such directory/x"), &world, 0, 0, &ds));
	int rid = ARMCI_Ckpt_init(prefix("right"), &world, 0, 0, &ds);
	CHECK(rid > 0);
	BAD_ONCE(FAIL6, ARMCI_Ckpt_init, "in use",
		ARMCI_Ckpt_init(prefix("right"), &world, 0, 0, &ds));
	BAD_ONCE(FAIL6, armci_irecover, "no checkpoint", armci_irecover(rid, 0));
	BAD(FAIL, ARMCIX_Ckpt_distribute, "index",
		ARMCIX_Ckpt_distribute(rid, 1, 1, sizeof block, dims, lo, hi));
	BAD(FAIL4, ARMCIX_Ckpt_distribute, "ndim",
		ARMCIX_Ckpt_distribute(rid, 0, 9, sizeof block, dims, lo, hi));
	BAD(FAIL, ARMCIX_Ckpt_distribute, "lo, hi",
		ARMCIX_Ckpt_distribute(rid, 0, 1, sizeof(int), dims, lo, hi));
	BAD(FAIL, ARMCIX_Ckpt_distribute, "null pointer",
		ARMCIX_Ckpt_distribute(rid, 0, 1, sizeof block, dims, lo, NULL));
	CHECK_OK(ARMCIX_Ckpt_distribute(rid, 0, 1, sizeof block, dims, lo, hi));
	CHECK_INT(ARMCI_Ckpt(rid), ARMCI_CKPT);
	ARMCI_Ckpt_finalize(rid);
	free(ds.ptr_arr), free(ds.sz), free(ds.saveonce);
}

// One member alone makes a mistake: all get its code, and none waits.
static void one_fails(void)
{
	ARMCI_Group world;
	ARMCI_Group_get_world(&world);
	int rid = ARMCI_Ckpt_init(prefix(me == np - 1 ? "nowhere/x" : "somewhere"), &world, 0, 0,
		NULL);
	CHECK_INT(rid, FAIL6);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	make_directory();
	blocks();
	allocations();
	mistakes();
	one_fails();
	armci_set_spare_procs(0);
	int size = 0;
	ARMCI_Group_size(ARMCI_Get_ft_group(), &size);
	CHECK_INT(size, np);
	size = 0;
	ARMCI_Group_size(ARMCI_Get_world_group(), &size);
	CHECK_INT(size, np);
	remove_directory();
	return check_end("checkpoint");
}
