// SPDX-License-Identifier: BSD-3-Clause
// The command line of the benchmark of MPI one-sided communication, its windows, and what can go
// wrong with them.
//
//   windows [-r REPS] [-q] [-c] [-s] FIGURE... -q quick, -c MPI_Win_create, -s beside a raw socket
//
// Prints the lines of armci_perf's worker (timing.h): PERF and a figure; BEGIN
// before each that is named, so that it is known which one an MPI does not survive, END after all;
// SKIP with the reason why there is none. Figures over something else than bytes have that number
// in the place of the shape.
#include "windows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int me, ranks, peer, reps = 5;
bool quick, created, sockets;
struct area area;

static const struct {
	const char *name;
	void (*run)(void);
	bool two; // two ranks exactly
} figures[] = {
	{"pingpong", latency, true},
	{"bidirectional", bidirectional, true},
	{"get-fence", get_fence, true},
	{"bandwidth", bandwidth, true},
	{"synchronisation", synchronisation, false},
	{"overlap", overlap, true},
	{"skew", skew, true},
	{"origins", origins, false},
	{"small", small, true},
	{"fetch", fetch, true},
	{"swap", swap, true},
	{"accumulate", accumulate, true},
	{"strided", strided, true},
	{"locks", locks, true},
};
enum { FIGURES = sizeof figures / sizeof figures[0] };

static const char *running = "-";

void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "windows: rank %d: %s\n", me, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

void *touched(size_t bytes)
{
	void *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	need(p != NULL, "no memory");
	return memset(p, 0, bytes);
}

static void make_group(void)
{
	MPI_Group world;
	int list[64] = {0}, count = me == 0 ? ranks - 1 : 1;
	for (int i = 0; me == 0 && i < count; i++) list[i] = i + 1;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, count, list, &area.others);
	MPI_Group_free(&world);
}

static int make_window(MPI_Aint bytes)
{
	if (!created)
		return MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &area.base,
			&area.win);
	area.base = touched((size_t)bytes);
	return MPI_Win_create(area.base, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &area.win);
}

// An MPI that cannot make the window returns an error, to all of us.
bool area_open(size_t bytes)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int length, code, worst;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	code = make_window((MPI_Aint)bytes);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	worst = code;
	MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (worst == MPI_SUCCESS) {
		if (!created)
			memset(area.base, 0, bytes);
		area.mine = touched(bytes);
		area.spare = touched(bytes);
		make_group();
		MPI_Barrier(MPI_COMM_WORLD);
		return true;
	}
	MPI_Error_string(code == MPI_SUCCESS ? worst : code, text, &length);
	text[strcspn(text, "\n")] = 0;
	if (me == 0)
		printf("SKIP\t%s\t%s: %s\n", running,
			created ? "MPI_Win_create" : "MPI_Win_allocate", text);
	return false;
}

void area_close(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&area.win);
	MPI_Group_free(&area.others);
	free(area.mine);
	free(area.spare);
	if (created)
		free(area.base);
}

static void usage(const char *wrong)
{
	if (me == 0) {
		fprintf(stderr,
			"windows: %s\nusage: windows [-r REPS] [-q] [-c] [-s] FIGURE...\nfigures:",
			wrong);
		for (int i = 0; i < FIGURES; i++) fprintf(stderr, " %s", figures[i].name);
		fprintf(stderr, "\n");
	}
	MPI_Finalize();
	exit(2);
}

static void run(const char *name)
{
	int i = 0;
	while (i < FIGURES && strcmp(figures[i].name, name) != 0) i++;
	if (i == FIGURES)
		usage("no such figure");
	if (figures[i].two ? ranks != 2 : ranks < 2 || ranks > 64)
		usage("this figure needs two ranks, of origins and of synchronisation 2 to 64");
	running = name;
	if (me == 0) {
		printf("BEGIN\t%s\n", name);
		fflush(stdout);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	figures[i].run();
	fflush(stdout);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	peer = me == 0 ? 1 : 0;
	for (int option; (option = getopt(argc, argv, "r:qcs")) != -1;)
		switch (option) {
		case 'r': reps = atoi(optarg); break;
		case 'q': quick = true; break;
		case 'c': created = true; break;
		case 's': sockets = true; break;
		default: usage("no such option");
		}
	if (reps < 1 || reps > TIMING_REPS_MAX || optind == argc)
		usage("-r is 1 to 99, and a figure has to be named");
	if (sockets)
		socket_open((size_t)BURST << 20);
	for (int i = optind; i < argc; i++) run(argv[i]);
	if (sockets)
		socket_close();
	if (me == 0)
		printf("END\n");
	fflush(stdout);
	alarm(10); // MPICH 4.0 over UCX may hang between hosts in what follows
	MPI_Finalize();
	return 0;
}
