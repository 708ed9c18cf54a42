// SPDX-License-Identifier: BSD-3-Clause
// The client of PMI-2: srun --mpi=pmi2, and others whose libpmi2.so.0 is installed.
#include <dlfcn.h>

#include "abi.h"
#include "pmi.h"

static int (*p_init)(int *spawned, int *size, int *rank, int *program);
static int (*p_finalize)(void);
static int (*p_abort)(int flag, const char *message);
static int (*p_job_id)(char *id, int bytes);
static int (*p_put)(const char *key, const char *value);
static int (*p_fence)(void);
static int (
	*p_get)(const char *job, int rank, const char *key, char *value, int bytes, int *length);

static char job[256];

// load_client finds the library's functions: NULL, or what is missing.
static const char *load_client(void)
{
	if (p_get)
		return NULL;
	void *l = dlopen("libpmi2.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!l)
		return "libpmi2.so.0 is not installed, or cannot be loaded: install libpmi2-0 on "
		       "all hosts";
	if (!pmi_find(l, "PMI2_Init", &p_init) || !pmi_find(l, "PMI2_Finalize", &p_finalize) ||
	    !pmi_find(l, "PMI2_Abort", &p_abort) || !pmi_find(l, "PMI2_Job_GetId", &p_job_id) ||
	    !pmi_find(l, "PMI2_KVS_Put", &p_put) || !pmi_find(l, "PMI2_KVS_Fence", &p_fence) ||
	    !pmi_find(l, "PMI2_KVS_Get", &p_get)) {
		dlclose(l);
		p_get = NULL;
		return "libpmi2.so.0 lacks functions of PMI-2";
	}
	return NULL;
}

// open_client joins the job: NULL, or why not. PMI-2 does not tell how many ranks are on this host.
static const char *open_client(struct pmi_place *place)
{
	int spawned, program;
	if (p_init(&spawned, &place->size, &place->rank, &program) != P2_SUCCESS)
		return "the launcher does not answer to PMI-2 (PMI2_Init): use one that does";
	if (p_job_id(job, sizeof job) != P2_SUCCESS)
		return "the launcher does not name the job (PMI2_Job_GetId)";
	place->local = 0;
	return NULL;
}

static int put(const char *key, const char *value) { return p_put(key, value); }
static int fence(void) { return p_fence(); }

static int get(int rank, const char *key, char *value, int bytes)
{
	(void)rank; // a hint where to look that not all launchers understand; keys are the job's
	int length = 0;
	int code = p_get(job, P2_ID_NULL, key, value, bytes, &length);
	return code == P2_SUCCESS && length >= bytes ? -1 : code;
}

static void abort_job(int status, const char *message)
{
	(void)status; // PMI-2 knows none
	p_abort(1, message);
}

static void close_client(void) { p_finalize(); }

const struct pmi_client *pmi_2(void)
{
	static const struct pmi_client client = {load_client, open_client, put, fence, get,
		abort_job, close_client};
	return &client;
}
