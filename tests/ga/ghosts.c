/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ghosts: arrays with ghost cells: after an update every ghost cell, edges and corners alike, must
 * hold the value of the element it mirrors, with periodic boundaries. Must not read ghost cells
 * before an update.
 */
#include "gacheck.h"

enum { NX = 24, NY = 18, NZ = 10 };

static int wrap(int i, int n)
{
	return ((i % n) + n) % n;
}

/* Writes check_value into the owned part of a 2-D array and returns its local box including ghosts.
 */
static double *fill(int a, const int width[2], int lo[2], int hi[2], int ld[1])
{
	int dims[2], i, j;
	double *box = NULL;

	NGA_Distribution(a, GA_Nodeid(), lo, hi);
	if (hi[0] < lo[0])
		return NULL;
	NGA_Access_ghosts(a, dims, &box, ld);
	CHECK(dims[0] == hi[0] - lo[0] + 1 + 2 * width[0], "ghost box has %d rows", dims[0]);
	for (i = lo[0]; i <= hi[0]; i++)
		for (j = lo[1]; j <= hi[1]; j++)
			box[(i - lo[0] + width[0]) * ld[0] + j - lo[1] + width[1]] = check_value(i,
				j);
	NGA_Release_update_ghosts(a);
	return box;
}

static void judge(const double *box, const int width[2], const int lo[2], const int hi[2], int ld,
	const char *how)
{
	int i, j;

	for (i = lo[0] - width[0]; i <= hi[0] + width[0]; i++)
		for (j = lo[1] - width[1]; j <= hi[1] + width[1]; j++) {
			double is = box[(i - lo[0] + width[0]) * ld + j - lo[1] + width[1]];

			CHECK(is == check_value(wrap(i, NX), wrap(j, NY)), "%s: cell (%d,%d) is %g",
				how, i, j, is);
		}
}

static void plane(int directions)
{
	int dims[2] = {NX, NY}, width[2] = {2, 1}, lo[2], hi[2], ld[1], a;
	double *box;

	a = NGA_Create_ghosts(C_DBL, 2, dims, width, (char *)"plane", NULL);
	GA_Zero(a);
	box = fill(a, width, lo, hi, ld);
	GA_Sync();
	if (directions) {
		ga_nbhdl_t handle;

		NGA_Update_ghosts_nb(a, &handle);
		NGA_NbWait(&handle);
		GA_Sync();
	} else {
		GA_Update_ghosts(a);
	}
	if (box)
		judge(box, width, lo, hi, ld[0], directions ? "nonblocking update" : "update");
	GA_Sync();
	GA_Destroy(a);
}

/* 3-D: each rank puts its own box through the global view, then compares its ghosts with a periodic
 * get. */
static void volume(void)
{
	int dims[3] = {NX, NY, NZ}, width[3] = {1, 1, 1}, lo[3], hi[3], ld[2], box[3], want_ld[2],
	    a, i, j, k;
	int *ghost, *want;

	a = NGA_Create_ghosts(C_INT, 3, dims, width, (char *)"volume", NULL);
	NGA_Distribution(a, GA_Nodeid(), lo, hi);
	if (hi[0] >= lo[0]) {
		NGA_Access(a, lo, hi, &ghost, ld);
		for (i = 0; i <= hi[0] - lo[0]; i++)
			for (j = 0; j <= hi[1] - lo[1]; j++)
				for (k = 0; k <= hi[2] - lo[2]; k++)
					ghost[(i * ld[0] + j) * ld[1] + k] =
						((i + lo[0]) * NY + j + lo[1]) * NZ + k + lo[2];
		NGA_Release_update(a, lo, hi);
	}
	GA_Update_ghosts(a);
	if (hi[0] >= lo[0]) {
		NGA_Access_ghosts(a, box, &ghost, ld);
		for (i = 0; i < 3; i++)
			lo[i]--, hi[i]++;
		want_ld[0] = box[1];
		want_ld[1] = box[2];
		want = malloc(sizeof *want * box[0] * box[1] * box[2]);
		NGA_Periodic_get(a, lo, hi, want, want_ld);
		for (i = 0; i < box[0]; i++)
			for (j = 0; j < box[1]; j++)
				for (k = 0; k < box[2]; k++) {
					int is = ghost[(i * ld[0] + j) * ld[1] + k];
					int value = (wrap(i + lo[0], NX) * NY +
							    wrap(j + lo[1], NY)) *
							NZ +
						wrap(k + lo[2], NZ);

					CHECK(is == value, "ghost (%d,%d,%d) is %d, not %d", i, j,
						k, is, value);
					CHECK(want[(i * box[1] + j) * box[2] + k] == value,
						"periodic get at (%d,%d,%d)", i, j, k);
				}
		free(want);
		NGA_Release_ghosts(a);
	}
	GA_Sync();
	GA_Destroy(a);
}

int main(int argc, char **argv)
{
	check_start(&argc, &argv);
	plane(0);
	plane(1);
	volume();
	return check_finish("ghosts");
}
