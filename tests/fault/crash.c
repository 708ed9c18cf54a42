// SPDX-License-Identifier: BSD-3-Clause
// crash.c - crashes inside and outside of the library, one per case; the last rank has it, the
// others wait in a barrier. crash.sh looks at what is printed and how the process ends; only what
// leads to it is made here.
//
//   crash CASE      cases that start with "handler-" install a handler first: before ARMCI_Init, or
//                   after it
#include <armci.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

static void *volatile bad = (void *)0x10; // not known to the compiler
static void **base;
static int me, np;
static sigjmp_buf back;
static char *fixed;

static void die(const char *what)
{
	fprintf(stderr, "crash: %s failed\n", what);
	ARMCI_Error(what, 1);
}

static void put(void) { ARMCI_Put(bad, base[0], 64, 0); }

static void ignore(int sig) { (void)sig; }

// A timer's signals keep arriving while the crash is told.
static void put_alarms(void)
{
	struct sigaction a = {.sa_handler = ignore, .sa_flags = SA_ONSTACK};
	struct itimerval often = {{0, 1000}, {0, 1000}};
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	put();
}

static void get(void) { ARMCI_Get(base[0], bad, 4096, 0); }

static void puts_(void)
{
	int count[2] = {256, 4}, stride[1] = {512};
	ARMCI_PutS(bad, stride, base[0], stride, count, 1, 0);
}

// The array of counts itself cannot be read: in Go when the fast path is off.
static void counts(void)
{
	int stride[1] = {512};
	ARMCI_PutS(base[me], stride, base[0], stride, bad, 1, 0);
}

static void acc(void)
{
	double one = 1;
	ARMCI_Acc(ARMCI_ACC_DBL, &one, bad, base[0], 64, 0);
}

static void broadcast(void) { armci_msg_bcast(bad, 64, me); }
static void own(void) { *(volatile int *)bad = 1; }
static void abort_(void) { abort(); }
static void divide(void)
{
	volatile int zero = 0;
	printf("%d\n", 7 / zero);
}

static void jump(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static void tell(int sig, siginfo_t *info, void *context)
{
	char line[100];
	(void)context;
	int n = snprintf(line, sizeof line, "own handler: signal %d at %p\n", sig, info->si_addr);
	if (write(2, line, (size_t)n) != n)
		_exit(3);
	_exit(7);
}

static void mend(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	mprotect(fixed, 4096, PROT_READ | PROT_WRITE);
}

static void install(const char *how)
{
	struct sigaction a = {.sa_flags = SA_SIGINFO};
	if (strstr(how, "-jump")) {
		a.sa_flags = SA_NODEFER;
		a.sa_handler = jump;
	} else if (strstr(how, "-mend")) {
		a.sa_sigaction = mend;
	} else {
		a.sa_sigaction = tell;
	}
	sigaction(SIGSEGV, &a, NULL);
}

// Comes back from a fault of its own several times, and the library goes on working.
static void jumps(void)
{
	for (volatile int i = 0; i < 3; i++) {
		if (sigsetjmp(back, 1) == 0) {
			own();
			die("a store to nowhere");
		}
		long v = i;
		if (ARMCI_Put(&v, base[0], sizeof v, 0) || ARMCI_GetValueLong(base[0], 0) != i)
			die("ARMCI_Put");
	}
}

// A page that only the handler makes writable, written by the library: what it computes must be
// right.
static void mends(void)
{
	fixed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(base[me], 5, 4096);
	if (fixed == MAP_FAILED || ARMCI_Get(base[me], fixed, 4096, me) || fixed[0] != 5 ||
		fixed[4095] != 5)
		die("ARMCI_Get");
}

static const struct what {
	const char *name;
	void (*run)(void);
} all[] = {
	{"put", put},
	{"put-alarms", put_alarms},
	{"get", get},
	{"puts", puts_},
	{"counts", counts},
	{"acc", acc},
	{"bcast", broadcast},
	{"own", own},
	{"abort", abort_},
	{"divide", divide},
	{"handler-before-own", own},
	{"handler-before-put", put},
	{"handler-before-jump", jumps},
	{"handler-before-mend", mends},
	{"handler-after-own", own},
	{"handler-after-put", put},
	{"handler-after-jump", jumps},
	{"handler-after-mend", mends},
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	if (strncmp(name, "handler-before", 14) == 0)
		install(name);
	armci_msg_init(&argc, &argv);
	if (ARMCI_Init())
		die("ARMCI_Init");
	if (strncmp(name, "handler-after", 13) == 0)
		install(name);
	me = armci_msg_me();
	np = armci_msg_nproc();
	base = malloc((size_t)np * sizeof *base);
	if (!base || ARMCI_Malloc(base, 1 << 16))
		die("ARMCI_Malloc");
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (strcmp(name, all[i].name) == 0 && me == np - 1)
			all[i].run();
	ARMCI_Barrier();
	if (me == 0)
		printf("survived %s\n", name);
	ARMCI_Finalize();
	armci_msg_finalize();
	return 0;
}
