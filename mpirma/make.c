// SPDX-License-Identifier: BSD-3-Clause
// The functions that make windows: arguments are checked here, create.c does the rest.
#include "create.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

static int checked(struct making *m, void *win, void *base)
{
	int inter = 0;
	if (m->comm == abi.comm_null)
		return RMA_PASS; // the MPI knows how to complain
	if (job.running && !real.Comm_test_inter(m->comm, &inter) && inter)
		return rma_comm_error(m->comm, m->function, abi.err_comm,
			"comm: an intercommunicator");
	if (m->size < 0)
		return rma_comm_error(m->comm, m->function, abi.err_size, "size: %ld is negative",
			(long)m->size);
	if (m->unit <= 0)
		return rma_comm_error(m->comm, m->function, abi.err_disp,
			"disp_unit: %ld is not positive", (long)m->unit);
	if (!win)
		return rma_comm_error(m->comm, m->function, abi.err_arg, "win: null pointer");
	if (m->flavor == FLAVOR_CREATE && !m->base && m->size > 0)
		return rma_comm_error(m->comm, m->function, abi.err_arg,
			"base: null pointer, though size is %ld", (long)m->size);
	return rma_create(m, win, base);
}

static int make(struct making *m, void *win, void *base)
{
	uint64_t bytes = m->size > 0 ? (uint64_t)m->size : 0;
	rma_start(m->comm);
	struct profile_span s = rma_begin(m->function, bytes);
	profile_entered_go = true;
	int done = checked(m, win, base);
	rma_end(&s, PROFILE_MPI_CREATE, bytes);
	return done;
}

static bool asks_for(handle info, const char *key)
{
	char value[16] = "";
	int there = 0;
	return info != abi.info_null &&
		real.Info_get(info, key, sizeof value - 1, value, &there) == RMA_OK && there &&
		strcmp(value, "true") == 0;
}

#define MAKING(name, ...) \
	(&(struct making){.function = "MPI_" #name, \
		.info = rma_handle(info), \
		.comm = rma_handle(comm), \
		__VA_ARGS__})

// Integers of type `number`: int, or MPI_Aint in the functions for large counts.
#define CREATE(name, number) \
	PUBLIC int PMPI_##name(void *base, aint size, number unit, handle info, handle comm, \
		void *win) \
	{ \
		int done = make(MAKING(name, .flavor = FLAVOR_CREATE, .base = base, .size = size, \
					.unit = unit), \
			win, NULL); \
		return done != RMA_PASS ? done : real.name(base, size, unit, info, comm, win); \
	} \
	RMA_ALIAS(name)

#define ALLOCATE(name, number, kind) \
	PUBLIC int PMPI_##name(aint size, number unit, handle info, handle comm, void *base, \
		void *win) \
	{ \
		int done = make(MAKING(name, .flavor = kind, .size = size, .unit = unit, \
					.apart = asks_for(rma_handle(info), \
						"alloc_shared_noncontig")), \
			win, base); \
		return done != RMA_PASS ? done : real.name(size, unit, info, comm, base, win); \
	} \
	RMA_ALIAS(name)

CREATE(Win_create, int)
CREATE(Win_create_c, aint)
ALLOCATE(Win_allocate, int, FLAVOR_ALLOCATE)
ALLOCATE(Win_allocate_c, aint, FLAVOR_ALLOCATE)
ALLOCATE(Win_allocate_shared, int, FLAVOR_SHARED)
ALLOCATE(Win_allocate_shared_c, aint, FLAVOR_SHARED)

PUBLIC int PMPI_Win_create_dynamic(handle info, handle comm, void *win)
{
	int done = make(MAKING(Win_create_dynamic, .flavor = FLAVOR_DYNAMIC, .unit = 1), win, NULL);
	return done != RMA_PASS ? done : real.Win_create_dynamic(info, comm, win);
}
RMA_ALIAS(Win_create_dynamic)

// Memory in the arena, which other ranks of the node load and store in windows that are made of it.
PUBLIC int PMPI_Alloc_mem(aint size, handle info, void *base)
{
	char text[200];
	uintptr_t addr = 0;
	if (!job.running || size <= 0)
		return real.Alloc_mem(size, info, base);
	int result = mpirmago_allocate(size, 0, &addr, text);
	if (result != GO_OK)
		return rma_comm_error(abi.comm_world, "MPI_Alloc_mem", abi.err_no_mem, "%s", text);
	*(void **)base = (void *)addr;
	return RMA_OK;
}
RMA_ALIAS(Alloc_mem)

PUBLIC int PMPI_Free_mem(void *base)
{
	char text[200];
	uintptr_t arena = job.arena ? job.arena : (uintptr_t)shm.base;
	uint64_t bytes = job.arena ? job.arena_bytes : shm.bytes;
	if (!arena || (uintptr_t)base < arena || (uintptr_t)base - arena >= bytes)
		return real.Free_mem(base);
	if (job.arena) // it has gone with the library
		return RMA_OK;
	if (mpirmago_release((uintptr_t)base, text) != GO_OK)
		return rma_comm_error(abi.comm_world, "MPI_Free_mem", abi.err_base, "%s", text);
	return RMA_OK;
}
RMA_ALIAS(Free_mem)
