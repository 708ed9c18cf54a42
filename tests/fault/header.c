// SPDX-License-Identifier: BSD-3-Clause
// header.c - vector puts and gets with descriptors in this library's layout or in ARMCI-MPI's, as
// if compiled with the other armci.h: what mistakes.sh starts.
//
//	header right|other elements|rows|one|window
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// As ARMCI-MPI has it: the numbers are exchanged.
struct other {
	void **src, **dst;
	int bytes, count;
};

enum { MOST = 100 };

static int other;

static void transfer(void **src, void **dst, int bytes, int count, int proc, int get)
{
	armci_giov_t right = {.src_ptr_array = src,
		.dst_ptr_array = dst,
		.ptr_array_len = count,
		.bytes = bytes};
	struct other wrong = {src, dst, bytes, count};
	armci_giov_t v = right;
	if (other)
		memcpy(&v, &wrong, sizeof v);
	if (get)
		ARMCI_GetV(&v, 1, proc);
	else
		ARMCI_PutV(&v, 1, proc);
}

// segments writes count segments of bytes, a pitch apart, and reads them.
static void segments(char *remote, int bytes, int count, int pitch, int proc)
{
	char *local = malloc((size_t)count * (size_t)pitch),
	     *back = calloc((size_t)count, (size_t)pitch);
	void **here = malloc((size_t)count * sizeof *here),
	     **there = malloc((size_t)count * sizeof *there);
	void **to = malloc((size_t)count * sizeof *to);
	for (int i = 0; i < count; i++) {
		here[i] = local + i * pitch;
		there[i] = remote + i * pitch;
		to[i] = back + i * pitch;
		memset(here[i], i + 1, (size_t)bytes);
	}
	transfer(here, there, bytes, count, proc, 0);
	transfer(there, to, bytes, count, proc, 1);
	for (int i = 0; i < count; i++)
		if (memcmp(here[i], to[i], (size_t)bytes)) {
			printf("WRONG segment %d\n", i);
			exit(1);
		}
}

// window writes one element after the other, with descriptors into one array.
static void window(char *remote, int proc)
{
	static char local[8 * MOST];
	void *here[MOST], *there[MOST];
	for (int i = 0; i < MOST; i++) {
		here[i] = local + 8 * i;
		there[i] = remote + 8 * i;
	}
	for (int i = 0; i < MOST; i++)
		transfer(here + i, there + i, 8, 1, proc, 0);
}

int main(int argc, char **argv)
{
	if (argc != 3 || ARMCI_Init())
		return 5;
	other = !strcmp(argv[1], "other");
	int me = armci_msg_me(), n = armci_msg_nproc();
	void **base = malloc((size_t)n * sizeof *base);
	if (ARMCI_Malloc(base, 1 << 16))
		return 5;
	if (me == 0) {
		char *remote = base[n - 1];
		if (!strcmp(argv[2], "elements"))
			segments(remote, 8, MOST, 8, n - 1);
		else if (!strcmp(argv[2], "rows"))
			segments(remote, 800, 3, 1000, n - 1);
		else if (!strcmp(argv[2], "one"))
			segments(remote, 8, 1, 8, n - 1);
		else
			window(remote, n - 1);
	}
	ARMCI_Barrier();
	ARMCI_Finalize();
	if (me == 0)
		printf("OK\n");
	return 0;
}
