// SPDX-License-Identifier: BSD-3-Clause
// The transpose by MPI_Alltoall: every block is transposed into the outgoing buffer. What comes in
// are rows of the result: they are copied there, or a derived type says where they belong.
#include <string.h>

#include "transpose.h"

// The columns of mine that are another's rows, one block for each rank behind the other.
static void pack(struct transpose *t, const double *from)
{
	size_t block = (size_t)t->rows * (size_t)t->rows;
	for (int r = 0; r < app_n; r++)
		transpose_patch(from + (size_t)r * (size_t)t->rows, t->n,
			t->out + (size_t)r * block, t->rows, t->rows, t->rows);
}

void round_mpi(struct transpose *t, void **from, void **to)
{
	double *mine = to[app_me];
	int block = t->rows * t->rows;
	size_t rows = (size_t)t->rows;
	pack(t, from[app_me]);
	APP_COMM(MPI_Alltoall(t->out, block, MPI_DOUBLE, t->in, block, MPI_DOUBLE, MPI_COMM_WORLD));
	for (size_t i = 0; i < rows; i++)
		for (size_t r = 0; r < (size_t)app_n; r++)
			memcpy(mine + i * (size_t)t->n + r * rows, t->in + (r * rows + i) * rows,
				rows * sizeof(double));
}

void round_mpi_types(struct transpose *t, void **from, void **to)
{
	// of a block in its place; the next one begins where its first row ends
	MPI_Datatype rows, block;
	MPI_Type_vector(t->rows, t->rows, t->n, MPI_DOUBLE, &rows);
	MPI_Type_create_resized(rows, 0, (MPI_Aint)((size_t)t->rows * sizeof(double)), &block);
	MPI_Type_commit(&block);
	pack(t, from[app_me]);
	APP_COMM(MPI_Alltoall(t->out, t->rows * t->rows, MPI_DOUBLE, to[app_me], 1, block,
		MPI_COMM_WORLD));
	MPI_Type_free(&block);
	MPI_Type_free(&rows);
}
