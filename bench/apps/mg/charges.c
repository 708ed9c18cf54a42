// SPDX-License-Identifier: BSD-3-Clause
// The right hand side of MG: the grid is filled with NPB's pseudorandom numbers in the order of its
// points; it is +1 where the ten greatest are, -1 where the ten smallest are, and 0 elsewhere.
#include <string.h>

#include "mg.h"

enum { HALF = CHARGES / 2 };

// The generator x <- 5^13 x mod 2^46; 64-bit products are right modulo 2^46.
static const uint64_t multiplier = 1220703125, seed = 314159265, mask = (1ull << 46) - 1;

static uint64_t power(uint64_t x, uint64_t e)
{
	uint64_t result = 1;
	for (; e > 0; e >>= 1, x = x * x & mask)
		if (e & 1)
			result = result * x & mask;
	return result;
}

// A number of the sequence and the global point that has it.
struct found {
	uint64_t value;
	long point;
};

// Keeps the best of HALF in order, the best first; sign -1: the smallest are best.
static void keep(struct found *best, struct found x, int sign)
{
	int i = HALF;
	while (i > 0 &&
		(best[i - 1].point < 0 ||
			(sign > 0 ? x.value > best[i - 1].value : x.value < best[i - 1].value)))
		i--;
	if (i == HALF)
		return;
	memmove(best + i + 1, best + i, (size_t)(HALF - 1 - i) * sizeof *best);
	best[i] = x;
}

static void search(const struct mg *m, struct found *best)
{
	const int *n = m->grid[m->levels].n;
	long side = 1L << m->levels;
	for (int i = 0; i < CHARGES; i++) best[i].point = -1;
	for (int k = 0; k < n[2]; k++)
		for (int j = 0; j < n[1]; j++) {
			long first = ((long)(m->at[2] * n[2] + k) * side + m->at[1] * n[1] + j) *
					side +
				m->at[0] * n[0];
			uint64_t x = seed * power(multiplier, (uint64_t)first) & mask;
			for (int i = 0; i < n[0]; i++) {
				x = x * multiplier & mask;
				keep(best, (struct found){x, first + i}, 1);
				keep(best + HALF, (struct found){x, first + i}, -1);
			}
		}
}

void find_charges(struct mg *m)
{
	struct found mine[CHARGES], all[app_n][CHARGES], best[CHARGES];
	search(m, mine);
	MPI_Allgather(mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
	for (int i = 0; i < CHARGES; i++) best[i].point = -1;
	for (int r = 0; r < app_n; r++)
		for (int i = 0; i < CHARGES; i++)
			if (all[r][i].point >= 0)
				keep(best + i / HALF * HALF, all[r][i], i < HALF ? 1 : -1);
	for (int i = 0; i < CHARGES; i++) m->charge[i] = best[i].point;
}

void place_charges(const struct mg *m)
{
	const int *n = m->grid[m->levels].n;
	memset(m->v, 0, points(n) * sizeof *m->v);
	for (int i = 0; i < CHARGES; i++) {
		size_t at = 0, stride[AXES] = {1, row(n), plane(n)};
		bool mine = true;
		for (int a = 0; a < AXES; a++) {
			int x = (int)(m->charge[i] >> (a * m->levels) & ((1L << m->levels) - 1)) -
				m->at[a] * n[a];
			mine = mine && x >= 0 && x < n[a];
			at += (size_t)(x + 1) * stride[a];
		}
		if (mine)
			m->v[at] = i < HALF ? 1 : -1;
	}
}
