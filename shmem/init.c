/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of the library, numbers of PEs, and what is known of the implementation. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "osh.h"

struct osh osh;
struct engine engine;

/* Before the program's own constructors, which may call shmem_init. With the static library it may
 * be the libarmci of an MPI, which has another name. */
__attribute__((constructor(101))) static void find_engine(void)
{
	Dl_info at;
	void *lib = dlopen("libarmci.so.0", RTLD_LAZY | RTLD_NOLOAD);
	if (!lib && dladdr((void *)ARMCIX_Wait_until, &at))
		lib = dlopen(at.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	bool all = lib != NULL;
#define FIND(NAME) all = all && (engine.NAME = (__typeof__(NAME) *)dlsym(lib, #NAME));
	ENGINE_CALLS_(FIND)
	if (!all) {
		fputs("libshmem_armci: libarmci is not loaded, or is older\n", stderr);
		abort();
	}
}

static const char usage[] =
	"SHMEM_VERSION         print the version\n"
	"SHMEM_INFO            print this text\n"
	"SHMEM_SYMMETRIC_SIZE  bytes of the symmetric heap of each PE, as 1000000, 64m or 1.5g; "
	"the default is 64m\n"
	"SHMEM_DEBUG           print what is symmetric memory\n";

/* A setting of the environment, by its name or the deprecated one. */
static const char *setting(const char *name)
{
	char whole[64];
	snprintf(whole, sizeof whole, "SHMEM_%s", name);
	const char *value = getenv(whole);
	if (value)
		return value;
	snprintf(whole, sizeof whole, "SMA_%s", name);
	return getenv(whole);
}

static size_t heap_bytes(void)
{
	const char *text = setting("SYMMETRIC_SIZE");
	if (!text)
		return (size_t)64 << 20;
	char *end;
	errno = 0;
	double n = strtod(text, &end);
	int shift = 0;
	switch (*end) {
	case 't': case 'T': shift += 10; /* fall through */
	case 'g': case 'G': shift += 10; /* fall through */
	case 'm': case 'M': shift += 10; /* fall through */
	case 'k': case 'K': shift += 10; /* fall through */
	case '\0': break;
	default: end = (char *)(uintptr_t)text;
	}
	n = ceil(ldexp(n, shift));
	if (end == text || errno || !(n >= 0 && n < 1e15))
		osh_die("shmem_init", "SHMEM_SYMMETRIC_SIZE=%s is no size in bytes", text);
	return (size_t)n;
}

static void find_sleepers(void)
{
	osh.sleepers = osh_alloc((size_t)osh.n * sizeof *osh.sleepers);
	for (int i = 0; i < osh.n; i++)
		osh.sleepers[i] = (const atomic_uint *)ARMCIX_Sleepers(i);
}

static void tell(void)
{
	if (setting("DEBUG"))
		fprintf(stderr, "PE %d: heap %p, %zu bytes; variables %p, %zu bytes\n", osh.me,
			(void *)osh.heap.base, osh.heap.bytes, (void *)osh.data.base,
			osh.data.bytes);
	if (osh.me != 0)
		return;
	if (setting("VERSION"))
		printf("OpenSHMEM %d.%d, libarmci %d.%d.%d\n", SHMEM_MAJOR_VERSION,
			SHMEM_MINOR_VERSION, ARMCI_VERSION_MAJOR, ARMCI_VERSION_MINOR,
			ARMCI_VERSION_PATCH);
	if (setting("INFO"))
		fputs(usage, stdout);
	fflush(stdout);
}

static bool owns_mpi; /* ARMCI_Init has initialised MPI, so that the program does not finalise it */

static bool mpi_is_on(void)
{
	int (*initialized)(int *) = (int (*)(int *))dlsym(RTLD_DEFAULT, "MPI_Initialized"), on = 0;
	return initialized && initialized(&on) == 0 && on;
}

static void end(void)
{
	if (!osh.on)
		return;
	osh_quiet(&osh.world_ctx);
	osh_barrier(osh.world);
	osh.on = false;
	osh_teams_end();
	osh.world_ctx.n = 0;
	osh_data_end();
	osh_heap_end();
	free(osh.sleepers);
	engine.ARMCI_Finalize();
	if (owns_mpi)
		engine.armci_msg_finalize();
}

static atomic_bool leaving; /* by shmem_global_exit: other PEs are not waited for */

/* A program that ends without shmem_finalize; where it has failed the others are not waited for. */
static void at_exit(int status, void *arg)
{
	(void)arg;
	if (status == 0 && !leaving)
		end();
}

/* Ends the process soon: by then the PE that has asked for it has its answer. */
static void *leave_soon(void *unused)
{
	usleep(20 * 1000);
	leaving = true;
	exit(0);
	return unused;
}

/* Another PE has called shmem_global_exit with status 0. */
static int leave(int to, int from, void *hdr, int hlen, void *data, int dlen, void *rhdr, int rhlen,
	int *rhsize, void *rdata, int rdlen, int *rdsize, int rtype)
{
	(void)to, (void)from, (void)hdr, (void)hlen, (void)data, (void)dlen, (void)rhdr;
	(void)rhlen, (void)rdata, (void)rdlen, (void)rtype;
	pthread_t thread;
	if (pthread_create(&thread, NULL, leave_soon, NULL) != 0)
		_exit(0);
	*rhsize = *rdsize = 0;
	return GPC_DONE;
}

static int leave_handler;

static void start(int threads)
{
	if (osh.on)
		return;
	bool mpi_was_on = mpi_is_on();
	if (engine.ARMCI_Init() != 0)
		exit(1);
	owns_mpi = !mpi_was_on && mpi_is_on();
	osh.me = engine.armci_msg_me();
	osh.n = engine.armci_msg_nproc();
	osh.threads = threads;
	find_sleepers();
	osh_heap_start(heap_bytes());
	osh_data_start();
	osh_teams_start();
	leave_handler = engine.ARMCI_Gpc_register((void *)leave);
	osh.on = true;
	static bool registered;
	if (!registered)
		on_exit(at_exit, NULL);
	registered = true;
	tell();
	engine.armci_msg_barrier();
}

API(void, init, (void)) { start(SHMEM_THREAD_SINGLE); }

/* Each level is had: the library's own traffic allows every one. */
API(int, init_thread, (int requested, int *provided))
{
	start(requested);
	*provided = requested;
	return 0;
}

API(void, query_thread, (int *provided)) { *provided = osh.threads; }

API(void, finalize, (void)) { end(); }

/* A launcher ends a job for a status that is not 0. With 0 each PE ends itself. */
API(void, global_exit, (int status))
{
	if (status != 0 || !osh.on) {
		fflush(NULL);
		engine.armci_msg_abort(status);
		_exit(status);
	}
	for (int i = 0; i < osh.n; i++)
		if (i != osh.me)
			engine.ARMCI_Gpc_exec(leave_handler, i, NULL, 0, NULL, 0, NULL, 0, NULL, 0,
				NULL);
	leaving = true;
	exit(0);
}

API(int, my_pe, (void)) { return osh.me; }
API(int, n_pes, (void)) { return osh.n; }

API(int, pe_accessible, (int pe)) { return pe >= 0 && pe < osh.n; }

API(int, addr_accessible, (const void *addr, int pe))
{
	return pe >= 0 && pe < osh.n && osh_find(addr, 1, pe);
}

API(void *, ptr, (const void *dest, int pe))
{
	int rank = osh_rank(&osh.world_ctx, pe, FN);
	if (rank == osh.me)
		return osh_find(dest, 1, rank) ? (void *)(uintptr_t)dest : NULL;
	return osh.sleepers[rank] ? osh_find(dest, 1, rank) : NULL;
}

API(void, info_get_version, (int *major, int *minor))
{
	*major = SHMEM_MAJOR_VERSION;
	*minor = SHMEM_MINOR_VERSION;
}

API(void, info_get_name, (char *name)) { strcpy(name, SHMEM_VENDOR_STRING); }

API(void, pcontrol, (int level, ...)) { (void)level; }

/* Deprecated names. */
__attribute__((visibility("default"))) void start_pes(int npes)
{
	(void)npes;
	start(SHMEM_THREAD_SINGLE);
}
__attribute__((visibility("default"))) int _my_pe(void) { return osh.me; }
__attribute__((visibility("default"))) int _num_pes(void) { return osh.n; }
