// SPDX-License-Identifier: BSD-3-Clause
// datatypes.c - derived datatypes on both sides of a transfer: every pair of types with the same
// signature, for put, get and accumulate. What is expected is made by MPI_Pack and MPI_Unpack,
// which do not use windows.
#include "check.h"

enum { INTS = 12, BYTES = 4096, MIDDLE = 1024, KINDS = 15, MIXED = 3 };

static MPI_Win win;
static char *memory;
static MPI_Datatype ints[KINDS], mixed[MIXED];
static const char *const name[KINDS] = {"contiguous", "vector", "hvector", "indexed",
	"indexed_block", "hindexed", "subarray", "subarray in Fortran's order", "struct", "resized",
	"darray", "negative lower bound", "nested", "backward", "2INT"};

static MPI_Datatype commit(MPI_Datatype type)
{
	CHECK_MPI(MPI_Type_commit(&type));
	return type;
}

static MPI_Datatype resized(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent)
{
	MPI_Datatype new;
	CHECK_MPI(MPI_Type_create_resized(type, lb, extent, &new));
	CHECK_MPI(MPI_Type_free(&type));
	return new;
}

// Types of twelve ints each.
static void make_ints(void)
{
	int lengths[] = {5, 1, 2, 4}, places[] = {0, 7, 10, 20}, blocks[] = {0, 8, 16, 30};
	MPI_Aint bytes[] = {4, 40, 60, 100}, negative[] = {-100, -40, 0, 20},
		 back[] = {120, 80, 40, 0};
	int equal[] = {3, 3, 3, 3}, sizes[] = {6, 5}, part[] = {4, 3}, from[] = {1, 2};
	MPI_Datatype four[] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT}, inner;
	CHECK_MPI(MPI_Type_contiguous(INTS, MPI_INT, &ints[0]));
	CHECK_MPI(MPI_Type_vector(4, 3, 5, MPI_INT, &ints[1]));
	CHECK_MPI(MPI_Type_create_hvector(6, 2, 20, MPI_INT, &ints[2]));
	CHECK_MPI(MPI_Type_indexed(4, lengths, places, MPI_INT, &ints[3]));
	CHECK_MPI(MPI_Type_create_indexed_block(4, 3, blocks, MPI_INT, &ints[4]));
	CHECK_MPI(MPI_Type_create_hindexed(4, lengths, bytes, MPI_INT, &ints[5]));
	CHECK_MPI(MPI_Type_create_subarray(2, sizes, part, from, MPI_ORDER_C, MPI_INT, &ints[6]));
	CHECK_MPI(MPI_Type_create_subarray(2, sizes, part, from, MPI_ORDER_FORTRAN, MPI_INT,
		&ints[7]));
	CHECK_MPI(MPI_Type_create_struct(4, lengths, bytes, four, &ints[8]));
	CHECK_MPI(MPI_Type_vector(12, 1, 3, MPI_INT, &ints[9]));
	ints[9] = resized(ints[9], -8, 160);
	int gsize[] = {6, 8}, distribution[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
	    argument[] = {MPI_DISTRIBUTE_DFLT_DARG, 1}, grid[] = {2, 2};
	CHECK_MPI(MPI_Type_create_darray(4, 1, 2, gsize, distribution, argument, grid, MPI_ORDER_C,
		MPI_INT, &ints[10]));
	CHECK_MPI(MPI_Type_create_hindexed(4, equal, negative, MPI_INT, &ints[11]));
	CHECK_MPI(MPI_Type_vector(2, 1, 2, MPI_INT, &inner));
	inner = resized(inner, 0, 16);
	CHECK_MPI(MPI_Type_vector(3, 2, 3, inner, &ints[12]));
	CHECK_MPI(MPI_Type_free(&inner));
	CHECK_MPI(MPI_Type_create_hindexed(4, equal, back, MPI_INT, &ints[13]));
	CHECK_MPI(MPI_Type_vector(3, 2, 3, MPI_2INT, &ints[14]));
	for (int i = 0; i < KINDS; i++) {
		int size;
		CHECK_MPI(MPI_Type_size(ints[i], &size));
		CHECK_INT(size, INTS * (int)sizeof(int));
		ints[i] = commit(ints[i]);
	}
}

// Types of two chars, a double, an int and a short, at different places.
static void make_mixed(void)
{
	int lengths[] = {2, 1, 1, 1};
	MPI_Aint places[MIXED][4] = {{0, 8, 16, 20}, {30, 0, 9, 20}, {-3, -20, 4, 1}};
	MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT};
	for (int i = 0; i < MIXED; i++) {
		CHECK_MPI(MPI_Type_create_struct(4, lengths, places[i], types, &mixed[i]));
		mixed[i] = commit(resized(mixed[i], -20, 64));
	}
}

// Copies count elements of one type to as many of another with the same signature, through
// MPI_Pack.
static void copy(char *to, MPI_Datatype to_type, const char *from, MPI_Datatype from_type,
	int count)
{
	char packed[BYTES];
	int at = 0, end = 0;
	CHECK_MPI(MPI_Pack(from, count, from_type, packed, BYTES, &at, MPI_COMM_SELF));
	CHECK_MPI(MPI_Unpack(packed, at, &end, to, count, to_type, MPI_COMM_SELF));
}

// Adds ints likewise.
static void add(char *to, MPI_Datatype to_type, const char *from, MPI_Datatype from_type, int count)
{
	int a[4 * INTS], b[4 * INTS], n = count * INTS;
	copy((char *)a, ints[0], from, from_type, count);
	copy((char *)b, ints[0], to, to_type, count);
	for (int i = 0; i < n; i++)
		b[i] += a[i];
	copy(to, to_type, (const char *)b, ints[0], count);
}

// Put, get and, of ints, accumulate, at the target's middle; its window is read back whole and
// compared.
static void pair(MPI_Datatype here, MPI_Datatype there, const char *what, const char *into,
	int target, int count, int sums)
{
	static char origin[BYTES], image[BYTES], back[BYTES], mine[BYTES];
	check_fill(origin, BYTES, (uint64_t)(count + 17 * me));
	check_fill(image, BYTES, (uint64_t)(count + 5));
	CHECK_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
	CHECK_MPI(MPI_Put(image, BYTES, MPI_BYTE, target, 0, BYTES, MPI_BYTE, win));
	CHECK_MPI(MPI_Win_flush(target, win));
	CHECK_MPI(MPI_Put(origin + MIDDLE, count, here, target, MIDDLE, count, there, win));
	copy(image + MIDDLE, there, origin + MIDDLE, here, count);
	CHECK_MPI(MPI_Win_flush(target, win));
	CHECK_MPI(MPI_Get(back, BYTES, MPI_BYTE, target, 0, BYTES, MPI_BYTE, win));
	CHECK_MPI(MPI_Win_flush(target, win));
	CHECK_MEM(back, image, BYTES, "put of %d %s to %s", count, what, into);
	if (sums) {
		CHECK_MPI(MPI_Accumulate(origin + MIDDLE, count, here, target, MIDDLE, count, there,
			MPI_SUM, win));
		add(image + MIDDLE, there, origin + MIDDLE, here, count);
		CHECK_MPI(MPI_Win_flush(target, win));
		CHECK_MPI(MPI_Get(back, BYTES, MPI_BYTE, target, 0, BYTES, MPI_BYTE, win));
		CHECK_MPI(MPI_Win_flush(target, win));
		CHECK_MEM(back, image, BYTES, "accumulate of %d %s to %s", count, what, into);
	}
	memcpy(mine, origin, BYTES);
	CHECK_MPI(MPI_Get(mine + MIDDLE, count, here, target, MIDDLE, count, there, win));
	CHECK_MPI(MPI_Win_unlock(target, win));
	copy(origin + MIDDLE, here, image + MIDDLE, there, count);
	CHECK_MEM(mine, origin, BYTES, "get of %d %s from %s", count, what, into);
}

// Types that are freed before the operation ends stay what they are.
static void freed(void)
{
	int value[4] = {1, 2, 3, 4}, right = (me + 1) % np, got[8];
	MPI_Datatype vector;
	CHECK_MPI(MPI_Type_vector(4, 1, 2, MPI_INT, &vector));
	vector = commit(vector);
	barrier();
	memset(memory, 0, 64);
	CHECK_MPI(MPI_Win_fence(0, win));
	CHECK_MPI(MPI_Put(value, 4, MPI_INT, right, 0, 1, vector, win));
	CHECK_MPI(MPI_Type_free(&vector));
	CHECK_MPI(MPI_Win_fence(0, win));
	memcpy(got, memory, sizeof got);
	for (int i = 0; i < 8; i++)
		CHECK_INT(got[i], i % 2 ? 0 : i / 2 + 1);
	barrier();
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	make_ints();
	make_mixed();
	CHECK_MPI(MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
	for (int i = 0; i < KINDS; i++) {
		for (int j = 0; j < KINDS; j++) {
			// Ints and pairs of ints have the same signature for put and get; there is
			// no sum of pairs.
			int sums = i != KINDS - 1 && j != KINDS - 1;
			pair(ints[i], ints[j], name[i], name[j], (me + i + j) % np, 1 + (i + j) % 3,
				sums);
		}
	}
	for (int i = 0; i < MIXED * MIXED; i++)
		pair(mixed[i / MIXED], mixed[i % MIXED], "struct of several types", "another",
			(me + i) % np, 1 + i % 3, 0);
	freed();
	CHECK_MPI(MPI_Win_free(&win));
	for (int i = 0; i < KINDS; i++)
		CHECK_MPI(MPI_Type_free(&ints[i]));
	for (int i = 0; i < MIXED; i++)
		CHECK_MPI(MPI_Type_free(&mixed[i]));
	return check_end("datatypes");
}
