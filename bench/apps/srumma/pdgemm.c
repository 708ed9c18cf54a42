// SPDX-License-Identifier: BSD-3-Clause
// The product by ScaLAPACK's pdgemm, whose distribution is block-cyclic and whose communication is
// MPI's messages between the rows and columns of the grid.
#include <stdlib.h>

#include "srumma.h"

// Of its interface what is used here: the BLACS, which give a grid of processes a number (its
// context), and Fortran subroutines.
void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridexit(int context);
void descinit_(int *descriptor, const int *rows, const int *columns, const int *row_block,
	const int *column_block, const int *first_row, const int *first_column, const int *context,
	const int *stride, int *info);
void pdgemm_(const char *transpose_a, const char *transpose_b, const int *m, const int *n,
	const int *k, const double *alpha, const double *a, const int *row_a, const int *column_a,
	const int *descriptor_a, const double *b, const int *row_b, const int *column_b,
	const int *descriptor_b, const double *beta, double *c, const int *row_c,
	const int *column_c, const int *descriptor_c);

// Rows and columns of a block. Only 32 and 128 were measured on a quiet machine: 128 was faster at
// n = 512 and more. Smaller matrices take 32, so that every rank of a small grid has some.
static int block(const struct product *m) { return m->n < 512 ? 32 : 128; }

static struct part matrix(const struct product *m)
{
	struct part part = part_of(m, block(m), block(m));
	part.at = app_private((size_t)part.stride * (size_t)part.columns * sizeof(double));
	return part;
}

void pdgemm_begin(struct product *m)
{
	Cblacs_get(-1, 0, &m->context);
	Cblacs_gridinit(&m->context, "Row", m->p, m->q);
	m->cyclic = (struct parts){matrix(m), matrix(m), matrix(m)};
	part_fill(&m->cyclic.a, MATRIX_A);
	part_fill(&m->cyclic.b, MATRIX_B);
}

double pdgemm_run(void *product)
{
	struct product *m = product;
	const double *a = m->cyclic.a.at, *b = m->cyclic.b.at;
	const int one = 1, zero = 0, size = block(m);
	const double alpha = 1, beta = 0;
	int all[9], info; // the three matrices are distributed alike
	descinit_(all, &m->n, &m->n, &size, &size, &zero, &zero, &m->context, &m->cyclic.a.stride,
		&info);
	app_need(info == 0, "descinit");
	part_spoil(&m->cyclic.c);
	MPI_Barrier(MPI_COMM_WORLD);
	double begin = timing_now();
	count_messages = true;
	pdgemm_("N", "N", &m->n, &m->n, &m->n, &alpha, a, &one, &one, all, b, &one, &one, all,
		&beta, m->cyclic.c.at, &one, &one, all);
	count_messages = false;
	APP_COMM(MPI_Barrier(MPI_COMM_WORLD));
	return timing_now() - begin;
}

bool pdgemm_good(void *product)
{
	struct product *m = product;
	return is_product(m, &m->cyclic.c);
}

static void release(struct part *part)
{
	free(part->at);
	part_free(part);
}

void pdgemm_end(struct product *m)
{
	release(&m->cyclic.a);
	release(&m->cyclic.b);
	release(&m->cyclic.c);
	Cblacs_gridexit(m->context);
}
