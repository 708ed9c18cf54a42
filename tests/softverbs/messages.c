// SPDX-License-Identifier: BSD-3-Clause
// messages.c - messages of an MPI in both directions at once, of many lengths and many at a time;
// the device carries them all (ucx.sh).
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20, MANY = 200 };

static int wrong;

static void fill(unsigned char *at, int n, int seed)
{
	for (int i = 0; i < n; i++)
		at[i] = (unsigned char)(seed + i * 7 + (i >> 8));
}

static void check(const unsigned char *got, int n, int seed)
{
	for (int i = 0; i < n; i++)
		if (got[i] != (unsigned char)(seed + i * 7 + (i >> 8))) {
			fprintf(stderr, "byte %d of %d is wrong\n", i, n);
			wrong++;
			return;
		}
}

static void exchange(int me, int bytes, int messages)
{
	static MPI_Request all[2 * MANY];
	static MPI_Status status[2 * MANY];
	unsigned char *out = malloc((size_t)bytes * (size_t)messages + 1);
	unsigned char *in = calloc((size_t)bytes * (size_t)messages + 1, 1);
	for (int i = 0; i < messages; i++) {
		fill(out + (size_t)i * (size_t)bytes, bytes, me * 31 + i);
		MPI_Irecv(in + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, 1 - me, i,
			MPI_COMM_WORLD, &all[i]);
		MPI_Isend(out + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, 1 - me, i,
			MPI_COMM_WORLD, &all[messages + i]);
	}
	MPI_Waitall(2 * messages, all, status);
	for (int i = 0; i < messages; i++)
		check(in + (size_t)i * (size_t)bytes, bytes, (1 - me) * 31 + i);
	free(out);
	free(in);
}

int main(int argc, char **argv)
{
	int me, all;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	for (int bytes = 0; bytes <= MOST; bytes = bytes * 2 + 1)
		exchange(me, bytes, bytes <= 20000 ? MANY : 3);
	MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (me == 0)
		printf("%s messages\n", all ? "FAIL" : "ok");
	MPI_Finalize();
	return all != 0;
}
