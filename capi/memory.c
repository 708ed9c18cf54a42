// SPDX-License-Identifier: BSD-3-Clause
// Allocation: all of it is done by Go.
#include "front.h"

#include "_cgo_export.h"

// As they are counted; a negative number is an error.
static uint64_t counted(armci_size_t bytes) { return bytes > 0 ? (uint64_t)bytes : 0; }

int PARMCI_Malloc(void *ptrs[], armci_size_t bytes)
{
	RECORDED(PROFILE_ALLOCATE, "ARMCI_Malloc", -1, counted(bytes), int,
		armcigo_malloc((char *)"ARMCI_Malloc", ptrs, bytes, FRONT_WORLD, NULL));
}
WEAK(ARMCI_Malloc);

int PARMCI_Malloc_memdev(void *ptrs[], armci_size_t bytes, const char *device)
{
	RECORDED(PROFILE_ALLOCATE, "ARMCI_Malloc_memdev", -1, counted(bytes), int,
		armcigo_malloc((char *)"ARMCI_Malloc_memdev", ptrs, bytes, FRONT_WORLD,
			(char *)device));
}
WEAK(ARMCI_Malloc_memdev);

PUBLIC int ARMCI_Malloc_group(void *ptrs[], armci_size_t bytes, ARMCI_Group *group)
{
	RECORDED(PROFILE_ALLOCATE, "ARMCI_Malloc_group", -1, counted(bytes), int,
		armcigo_malloc((char *)"ARMCI_Malloc_group", ptrs, bytes, front_group(group),
			NULL));
}

int PARMCI_Malloc_group_memdev(void *ptrs[], armci_size_t bytes, ARMCI_Group *group,
	const char *device)
{
	RECORDED(PROFILE_ALLOCATE, "ARMCI_Malloc_group_memdev", -1, counted(bytes), int,
		armcigo_malloc((char *)"ARMCI_Malloc_group_memdev", ptrs, bytes, front_group(group),
			(char *)device));
}
WEAK(ARMCI_Malloc_group_memdev);

int PARMCI_Free(void *ptr)
{
	RECORDED(PROFILE_FREE, "ARMCI_Free", -1, 0, int,
		armcigo_free((char *)"ARMCI_Free", ptr, FRONT_WORLD));
}
WEAK(ARMCI_Free);

int PARMCI_Free_memdev(void *ptr)
{
	RECORDED(PROFILE_FREE, "ARMCI_Free_memdev", -1, 0, int,
		armcigo_free((char *)"ARMCI_Free_memdev", ptr, FRONT_WORLD));
}
WEAK(ARMCI_Free_memdev);

PUBLIC int ARMCI_Free_group(void *ptr, ARMCI_Group *group)
{
	RECORDED(PROFILE_FREE, "ARMCI_Free_group", -1, 0, int,
		armcigo_free((char *)"ARMCI_Free_group", ptr, front_group(group)));
}

void *PARMCI_Malloc_local(armci_size_t bytes)
{
	RECORDED(PROFILE_ALLOCATE, "ARMCI_Malloc_local", -1, counted(bytes), void *,
		armcigo_malloc_local((char *)"ARMCI_Malloc_local", bytes));
}
WEAK(ARMCI_Malloc_local);

int PARMCI_Free_local(void *ptr)
{
	RECORDED(PROFILE_FREE, "ARMCI_Free_local", -1, 0, int,
		armcigo_free_local((char *)"ARMCI_Free_local", ptr));
}
WEAK(ARMCI_Free_local);

static void *memget(size_t bytes, armci_meminfo_t *info, int flags)
{
	RECORDED(PROFILE_ALLOCATE, "ARMCI_Memget", -1, bytes, void *,
		armcigo_memget(bytes, info, flags));
}

void PARMCI_Memget(size_t bytes, armci_meminfo_t *info, int flags)
{
	void *p = memget(bytes, info, flags);
	memset(info, 0, sizeof *info);
	info->armci_addr = info->addr = p;
	info->size = bytes;
	info->cpid = armci_msg_me();
}
WEAK(ARMCI_Memget);

// Addresses are equal in all ranks of a node, so attaching does nothing. The creator gets its own
// address, as in classic ARMCI.
void *PARMCI_Memat(armci_meminfo_t *info, long offset)
{
	if (armcigo_check_info((char *)"ARMCI_Memat", info) || !info->addr)
		return NULL;
	return info->cpid == armci_msg_me() ? info->addr : info->addr + offset;
}
WEAK(ARMCI_Memat);

PUBLIC void ARMCI_Memdt(armci_meminfo_t *info, long offset)
{
	(void)info;
	(void)offset;
}

static int memctl(void *ptr)
{
	RECORDED(PROFILE_FREE, "ARMCI_Memctl", -1, 0, int,
		armcigo_free_local((char *)"ARMCI_Memctl", ptr));
}

void PARMCI_Memctl(armci_meminfo_t *info)
{
	if (armcigo_check_info((char *)"ARMCI_Memctl", info))
		return;
	if (info->cpid == armci_msg_me() && info->addr)
		memctl(info->addr);
	info->addr = info->armci_addr = NULL;
}
WEAK(ARMCI_Memctl);

PUBLIC void ARMCI_Set_shm_limit(unsigned long bytes)
{
	// the arena has no limit of its own; every allocation is checked against the machine's
	// memory
	(void)bytes;
}

PUBLIC int ARMCI_Uses_shm(void) { return armcigo_uses_shm(FRONT_WORLD); }

PUBLIC int ARMCI_Uses_shm_grp(ARMCI_Group *group) { return armcigo_uses_shm(front_group(group)); }

// The memory is coherent: beginning and ending direct access are fences.
void PARMCI_Access_begin(void *ptr) { armcigo_access((char *)"ARMCI_Access_begin", ptr); }
WEAK(ARMCI_Access_begin);

void PARMCI_Access_end(void *ptr) { armcigo_access((char *)"ARMCI_Access_end", ptr); }
WEAK(ARMCI_Access_end);

PUBLIC void ARMCI_Copy(void *src, void *dst, int n)
{
	if (n > 0 && src && dst)
		memmove(dst, src, (size_t)n);
	else if (n != 0)
		armcigo_refuse_copy(n);
}
