// SPDX-License-Identifier: BSD-3-Clause
// Two-sided baselines: the same bytes by MPI_Send, MPI_Recv and their nonblocking forms, between
// ranks 0 and 1. They arrive beside the window, whose memory is the epochs'.
#include "windows.h"

enum { TAG = 1, DONE };

static int size;

void message_sizes(size_t bytes) { size = (int)bytes; }

double message_half_trips(long n)
{
	double begin = timing_now();
	for (long i = 0; i < n / 2; i++) {
		if (me == 0)
			MPI_Send(area.mine, size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
		MPI_Recv(area.spare, size, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (me == 1)
			MPI_Send(area.mine, size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
	}
	return timing_now() - begin;
}

double message_exchanges(long n)
{
	double begin = timing_now();
	for (long i = 0; i < n; i++) {
		MPI_Request r[2];
		MPI_Status status[2];
		MPI_Irecv(area.spare, size, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &r[0]);
		MPI_Isend(area.mine, size, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &r[1]);
		MPI_Waitall(2, r, status);
	}
	return timing_now() - begin;
}

static double stream(long n, int sender)
{
	double begin = timing_now();
	for (long i = 0; i < n; i++) {
		MPI_Request r[BURST];
		MPI_Status status[BURST];
		for (int k = 0; k < BURST; k++) {
			if (me == sender)
				MPI_Isend(area.mine + (size_t)k * (size_t)size, size, MPI_BYTE,
					peer, TAG, MPI_COMM_WORLD, &r[k]);
			else
				MPI_Irecv(area.spare + (size_t)k * (size_t)size, size, MPI_BYTE,
					peer, TAG, MPI_COMM_WORLD, &r[k]);
		}
		MPI_Waitall(BURST, r, status);
		if (me == sender)
			MPI_Recv(NULL, 0, MPI_BYTE, peer, DONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		else
			MPI_Send(NULL, 0, MPI_BYTE, peer, DONE, MPI_COMM_WORLD);
	}
	return me == 0 ? timing_now() - begin : 0;
}

double message_stream_out(long n) { return stream(n, 0); }
double message_stream_in(long n) { return stream(n, 1); }
