// SPDX-License-Identifier: BSD-3-Clause
// The client of PMIx: prterun, Open MPI's mpirun, srun --mpi=pmix, and others, with libpmix.so.2
// (releases 2 to 5).
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "pmi.h"

static int (*p_init)(struct px_proc *me, struct px_info *info, size_t infos);
static int (*p_finalize)(const struct px_info *info, size_t infos);
static int (*p_abort)(int status, const char *message, struct px_proc *procs, size_t count);
static int (*p_put)(uint8_t scope, const char *key, struct px_value *value);
static int (*p_commit)(void);
static int (*p_fence)(const struct px_proc *procs, size_t count, const struct px_info *info,
	size_t infos);
static int (*p_get)(const struct px_proc *of, const char *key, const struct px_info *info,
	size_t infos, struct px_value **value);

static struct px_proc me;

// What PMIx has allocated: a value with at most one string.
static void release(struct px_value *v)
{
	if (v->type == PX_STRING)
		free(v->data.string);
	free(v);
}

// number is a value of the job as a whole; 0 if there is none.
static int number(const char *key)
{
	struct px_proc all = me;
	struct px_value *v = NULL;
	all.rank = PX_ANY_RANK;
	if (p_get(&all, key, NULL, 0, &v) != PX_SUCCESS || !v)
		return 0;
	int n = v->type == PX_UINT32 ? (int)v->data.uint32 : 0;
	release(v);
	return n;
}

// load_client finds the library's functions: NULL, or what is missing.
static const char *load_client(void)
{
	if (p_get)
		return NULL;
	void *l = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
	if (!l)
		return "libpmix.so.2 is not installed, or cannot be loaded: install libpmix2 on "
		       "all hosts";
	if (!pmi_find(l, "PMIx_Init", &p_init) || !pmi_find(l, "PMIx_Finalize", &p_finalize) ||
		!pmi_find(l, "PMIx_Abort", &p_abort) || !pmi_find(l, "PMIx_Put", &p_put) ||
		!pmi_find(l, "PMIx_Commit", &p_commit) || !pmi_find(l, "PMIx_Fence", &p_fence) ||
		!pmi_find(l, "PMIx_Get", &p_get)) {
		dlclose(l);
		p_get = NULL;
		return "libpmix.so.2 lacks functions of PMIx";
	}
	return NULL;
}

// open_client joins the job: NULL, or why not.
static const char *open_client(struct pmi_place *place)
{
	if (p_init(&me, NULL, 0) != PX_SUCCESS)
		return "the launcher does not answer to PMIx (PMIx_Init): use one that does";
	place->rank = (int)me.rank;
	place->size = number(PX_JOB_SIZE);
	place->local = number(PX_LOCAL_SIZE);
	return place->size > 0 ? NULL : "the launcher does not tell the size of the job (PMIx_Get)";
}

static int put(const char *key, const char *value)
{
	struct px_value v = {.type = PX_STRING, .data.string = (char *)value}; // it is copied
	int code = p_put(PX_GLOBAL, key, &v);
	return code == PX_SUCCESS ? p_commit() : code;
}

static int fence(void)
{
	struct px_info collect = {.key = PX_COLLECT_DATA,
		.value = {.type = PX_BOOL, .data.flag = 1}};
	return p_fence(NULL, 0, &collect, 1);
}

static int get(int rank, const char *key, char *value, int bytes)
{
	struct px_proc of = me;
	struct px_value *v = NULL;
	of.rank = (uint32_t)rank;
	int code = p_get(&of, key, NULL, 0, &v);
	if (code != PX_SUCCESS || !v)
		return code ? code : -1;
	if (v->type != PX_STRING || strlen(v->data.string) >= (size_t)bytes)
		code = -1;
	else
		strcpy(value, v->data.string);
	release(v);
	return code;
}

static void abort_job(int status, const char *message) { p_abort(status, message, NULL, 0); }
static void close_client(void) { p_finalize(NULL, 0); }

const struct pmi_client *pmi_x(void)
{
	static const struct pmi_client client = {load_client, open_client, put, fence, get,
		abort_job, close_client};
	return &client;
}
