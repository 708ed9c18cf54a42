// SPDX-License-Identifier: BSD-3-Clause
// The clock of communication for ScaLAPACK, which calls MPI itself: MPI's profiling interface puts
// these functions between the two. They are the calls by which the BLACS move data and wait.
#include "srumma.h"

bool count_messages;

#define TIMED(call)                            \
	do {                                   \
		if (!count_messages)           \
			return P##call;        \
		app_comm_begin();              \
		int code = P##call;            \
		app_comm_end();                \
		return code;                   \
	} while (0)

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
	TIMED(MPI_Send(data, count, type, to, tag, comm));
}

int MPI_Rsend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
	TIMED(MPI_Rsend(data, count, type, to, tag, comm));
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	TIMED(MPI_Isend(data, count, type, to, tag, comm, request));
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	MPI_Status *status)
{
	TIMED(MPI_Recv(data, count, type, from, tag, comm, status));
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	TIMED(MPI_Irecv(data, count, type, from, tag, comm, request));
}

int MPI_Sendrecv(const void *data, int count, MPI_Datatype type, int to, int tag, void *room,
	int places, MPI_Datatype kind, int from, int mark, MPI_Comm comm, MPI_Status *status)
{
	TIMED(MPI_Sendrecv(data, count, type, to, tag, room, places, kind, from, mark, comm,
		status));
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	TIMED(MPI_Bcast(data, count, type, root, comm));
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
	TIMED(MPI_Waitall(count, requests, statuses));
}

int MPI_Testall(int count, MPI_Request *requests, int *done, MPI_Status *statuses)
{
	TIMED(MPI_Testall(count, requests, done, statuses));
}
