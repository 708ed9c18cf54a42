// SPDX-License-Identifier: BSD-3-Clause
// Datatypes of every constructor, nested at random, are flattened to the bytes that MPI_Pack packs;
// predefined ones have the element types and sizes of C; an entry goes when its type goes. Linked
// with the C files of mpirma under test.
#include <mpi.h>

#include "../../../mpirma/rma.h"

#include "../../../internal/kernel/update.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(yes, ...) \
	do { \
		if (!(yes)) { \
			printf("%s:%d: ", __FILE__, __LINE__); \
			printf(__VA_ARGS__); \
			puts(""); \
			exit(1); \
		} \
	} while (0)

enum { MEMORY = 1 << 21, ROUNDS = 3000, MOST = 100000 };

// Open MPI 4.1 forgets the extent of types with empty parts when it packs, and takes a stride of -1
// for 1.
#ifdef OPEN_MPI
enum { LEAST = 1 };
#else
enum { LEAST = 0 };
#endif

static int random_below(int n) { return rand() % n; }

static handle handle_of(MPI_Datatype type) { return rma_handle((handle)type); }

// No long double: MPICH does not pack its padding.
static MPI_Datatype named(void)
{
	static const MPI_Datatype types[] = {MPI_BYTE, MPI_CHAR, MPI_SHORT, MPI_INT, MPI_LONG,
		MPI_DOUBLE, MPI_C_BOOL, MPI_DOUBLE_INT, MPI_FLOAT_INT, MPI_SHORT_INT, MPI_LONG_INT,
		MPI_2INT, MPI_C_DOUBLE_COMPLEX, MPI_INTEGER, MPI_REAL8};
	return types[random_below(sizeof types / sizeof types[0])];
}

static MPI_Datatype grown(int depth);

static void drop(MPI_Datatype *type)
{
	int combiner;
#ifdef MPICH // MPI-4: a type of large counts refuses the call without _c
	MPI_Count a, b, c, d;
	MPI_Type_get_envelope_c(*type, &a, &b, &c, &d, &combiner);
#else
	int a, b, c;
	MPI_Type_get_envelope(*type, &a, &b, &c, &combiner);
#endif
	if (combiner != MPI_COMBINER_NAMED)
		MPI_Type_free(type);
}

static void make_struct(MPI_Datatype *made, int depth)
{
	int n = LEAST + random_below(4), lengths[4];
	MPI_Aint at[4], here = 0;
	MPI_Datatype types[4];
	for (int i = 0; i < n; i++) {
		types[i] = grown(depth - 1);
		lengths[i] = LEAST + random_below(3);
		at[i] = here;
		here += 64 + 16 * random_below(4);
	}
	MPI_Type_create_struct(n, lengths, at, types, made);
	for (int i = 0; i < n; i++)
		drop(&types[i]);
}

static void make_darray(MPI_Datatype of, MPI_Datatype *made)
{
	int d = 1 + random_below(3), sizes[3], how[3], blocks[3], processes[3], all = 1;
	for (int i = 0; i < d; i++) {
		static const int kinds[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK,
			MPI_DISTRIBUTE_CYCLIC};
		sizes[i] = 1 + random_below(7);
		how[i] = kinds[random_below(3)];
		processes[i] = how[i] == MPI_DISTRIBUTE_NONE ? 1 : 1 + random_below(3);
		blocks[i] = random_below(2) ?
			MPI_DISTRIBUTE_DFLT_DARG :
			(sizes[i] + processes[i] - 1) / processes[i] + random_below(2);
		all *= processes[i];
	}
	MPI_Type_create_darray(all, random_below(all), d, sizes, how, blocks, processes,
	                       random_below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, of, made);
}

static void make_subarray(MPI_Datatype of, MPI_Datatype *made)
{
	int d = 1 + random_below(3), sizes[3], subsizes[3], starts[3];
	for (int i = 0; i < d; i++) {
		sizes[i] = 1 + random_below(6);
		subsizes[i] = 1 + random_below(sizes[i]);
		starts[i] = random_below(sizes[i] - subsizes[i] + 1);
	}
	MPI_Type_create_subarray(d, sizes, subsizes, starts,
		random_below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, of, made);
}

#ifdef MPICH // MPI-4
static void make_large(int which, MPI_Datatype of, MPI_Datatype *made)
{
	MPI_Count lengths[] = {2, 0, 1}, places[] = {3, 0, 9}, bytes[] = {300, 0, 900},
		  sizes[] = {4, 5}, sub[] = {2, 3}, starts[] = {1, 1};
	MPI_Datatype types[] = { of, MPI_INT, of };
	int how[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
	    blocks[] = {1, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {2, 2};
	switch (which % 9) {
	case 0: MPI_Type_contiguous_c(2, of, made); break;
	case 1: MPI_Type_vector_c(2, 2, 3, of, made); break;
	case 2: MPI_Type_create_hvector_c(2, 2, 400, of, made); break;
	case 3: MPI_Type_indexed_c(3, lengths, places, of, made); break;
	case 4: MPI_Type_create_hindexed_c(3, lengths, bytes, of, made); break;
	case 5: MPI_Type_create_hindexed_block_c(3, 2, bytes, of, made); break;
	case 6: MPI_Type_create_struct_c(3, lengths, bytes, types, made); break;
	case 7:
		MPI_Type_create_subarray_c(2, sizes, sub, starts, MPI_ORDER_FORTRAN, of, made);
		break;
	default: MPI_Type_create_darray_c(4, 2, 2, sizes, how, blocks, grid, MPI_ORDER_C, of, made);
	}
}
#else
static void make_large(int which, MPI_Datatype of, MPI_Datatype *made)
{
	MPI_Type_contiguous(which % 3, of, made);
}
#endif

// A datatype that is not committed, made of others.
static MPI_Datatype grown(int depth)
{
	if (depth == 0)
		return named();
	MPI_Datatype of = grown(depth - 1), made;
	int lengths[] = {LEAST + random_below(2), 2, LEAST + random_below(2)},
	    places[] = {4, random_below(2), 12}, size, n = LEAST + random_below(3);
	MPI_Aint bytes[] = { 700, 100 + random_below(9), 0 }, lb, extent;
	MPI_Type_get_extent(of, &lb, &extent);
	switch (random_below(13)) {
	case 0: MPI_Type_dup(of, &made); break;
	case 1: MPI_Type_contiguous(n, of, &made); break;
	case 2: MPI_Type_vector(n, 1 + random_below(3), 2 * random_below(4) - 2, of, &made); break;
	case 3:
		MPI_Type_create_hvector(n, 1 + random_below(3), random_below(500), of, &made);
		break;
	case 4: MPI_Type_indexed(3, lengths, places, of, &made); break;
	case 5: MPI_Type_create_hindexed(3, lengths, bytes, of, &made); break;
	case 6: MPI_Type_create_indexed_block(3, 2, places, of, &made); break;
	case 7: MPI_Type_create_hindexed_block(3, 1, bytes, of, &made); break;
	case 8: make_struct(&made, depth); break;
	case 9: make_subarray(of, &made); break;
	case 10: make_darray(of, &made); break;
	case 11: make_large(rand(), of, &made); break;
	default:
		MPI_Type_create_resized(of, random_below(9) - 4,
			extent + random_below(40) - (extent > 10 ? 10 : 0), &made);
	}
	drop(&of);
	MPI_Type_size(made, &size);
	if (size || !LEAST)
		return made;
	MPI_Type_free(&made); // a process without a part of an array
	return grown(depth);
}

static void compare(MPI_Datatype type, unsigned char *memory, unsigned char *packed,
	unsigned char *ours)
{
	MPI_Aint lb, extent, true_lb, true_extent;
	MPI_Type_get_extent(type, &lb, &extent);
	MPI_Type_get_true_extent(type, &true_lb, &true_extent);
	const struct rma_type *t = rma_type(handle_of(type));
	int size, position = 0, count = random_below(4);
	MPI_Type_size(type, &size);
	CHECK(t, "a type of %d bytes is not understood", size);
	if (size > MOST || labs(true_lb) + true_extent + 4 * labs(extent) > MEMORY / 2)
		return;
	CHECK(t == rma_type(handle_of(type)), "it is flattened twice");
	const struct rma_type *e = t->exact ? t->exact : t;
	CHECK(t->size == size && e->bytes == size, "size %ld, bytes %ld, not %d", (long)t->size,
		(long)e->bytes, size);
	CHECK(t->lb == lb && t->extent == extent, "lb %ld extent %ld, not %ld %ld", (long)t->lb,
		(long)t->extent, lb, extent);
	CHECK(size == 0 || (e->true_lb >= true_lb && e->true_ub <= true_lb + true_extent),
		"true %ld to %ld, not in %ld to %ld", (long)e->true_lb, (long)e->true_ub, true_lb,
		true_lb + true_extent);
	CHECK(!t->dense || t->bytes == 0 || t->bytes == extent, "it is dense, but %ld bytes in %ld",
		(long)t->bytes, extent);
	MPI_Pack(memory + MEMORY / 2, count, type, packed, MEMORY, &position, MPI_COMM_SELF);
	unsigned char *to = ours;
	for (int i = 0; i < count; i++)
		for (int64_t r = 0; r < e->nruns; to += e->runs[r++].bytes)
			memcpy(to, memory + MEMORY / 2 + i * extent + e->runs[r].offset,
				(size_t)e->runs[r].bytes);
	CHECK(to - ours == (long)count * size, "%ld bytes, not %ld", (long)(to - ours),
		(long)count * size);
	CHECK(!memcmp(ours, packed, (size_t)(to - ours)),
		"%d elements are other bytes than MPI packs", count);
}

static void random_types(void)
{
	unsigned char *memory = malloc(MEMORY), *packed = malloc(MEMORY), *ours = malloc(MEMORY);
	for (int i = 0; i < MEMORY; i++)
		memory[i] = (unsigned char)(rand() >> 8 & 1); // valid bools, too
	MPI_Datatype kept[16] = { 0 };
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Datatype type = grown(1 + random_below(3));
		MPI_Type_commit(&type);
		compare(type, memory, packed, ours);
		if (i >= 16)
			MPI_Type_free(&kept[i % 16]);
		kept[i % 16] = type;
		for (int k = 0; k < 16 && k < i; k++)
			CHECK(rma_type(handle_of(kept[k])), "a type is gone before its time");
	}
	for (int k = 0; k < 16; k++)
		MPI_Type_free(&kept[k]);
}

static void elements(void)
{
	const struct { MPI_Datatype type; int element, bytes; bool dense;
	} want[] = {{MPI_BYTE, K_BYTES, 1, true}, {MPI_CHAR, K_I8, 1, true},
		{MPI_UNSIGNED_CHAR, K_U8, 1, true}, {MPI_INT, K_I32, 4, true},
		{MPI_UNSIGNED_LONG, K_U64, 8, true}, {MPI_FLOAT, K_F32, 4, true},
		{MPI_DOUBLE, K_F64, 8, true}, {MPI_LONG_DOUBLE, K_F80, 16, true},
		{MPI_C_FLOAT_COMPLEX, K_C32, 8, true}, {MPI_DOUBLE_COMPLEX, K_C64, 16, true},
		{MPI_LOGICAL, K_L32, 4, true}, {MPI_C_BOOL, K_BOOL, 1, true},
		{MPI_DOUBLE_INT, K_F64_I, 16, true}, {MPI_2INT, K_2I, 8, true},
		{MPI_SHORT_INT, K_I16_I, 8, true}, {MPI_LONG_DOUBLE_INT, K_F80_I, 32, true},
		{MPI_2REAL, K_2F32, 8, true}, {MPI_AINT, K_I64, 8, true},
		{MPI_2DOUBLE_PRECISION, K_2F64, 16, true}, {MPI_REAL16, K_BYTES, 1, true},
		{MPI_COUNT, K_I64, 8, true}};
	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
		const struct rma_type *t = rma_type(handle_of(want[i].type));
		CHECK(t && t->element == want[i].element && t->element_bytes == want[i].bytes &&
				t->dense == want[i].dense,
			"type %zu: element %d of %d bytes, not %d", i, t ? t->element : -9,
			t ? t->element_bytes : -9, want[i].element);
	}
	CHECK(!rma_type(handle_of(MPI_DATATYPE_NULL)), "MPI_DATATYPE_NULL is a type");
	const MPI_Op ops[] = {MPI_REPLACE, MPI_NO_OP, MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND,
		MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC,
		MPI_MAXLOC}; // as enum k_update_op
	for (int i = 0; i < K_UPDATE_OPS; i++)
		CHECK(rma_op(rma_handle((handle)ops[i])) == i, "operator %d is %d", i,
			rma_op(rma_handle((handle)ops[i])));
	CHECK(rma_op(rma_handle((handle)MPI_OP_NULL)) == -1, "MPI_OP_NULL is an operator");
}

static void derived(void)
{
	MPI_Datatype pairs, squeezed, f90, mixed;
	MPI_Type_contiguous(5, MPI_DOUBLE_INT, &pairs);
	MPI_Type_create_resized(MPI_DOUBLE_INT, 0, 12, &squeezed);
	MPI_Type_create_f90_real(12, MPI_UNDEFINED, &f90);
	MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4},
		(MPI_Datatype[]){MPI_INT, MPI_FLOAT}, &mixed);
	const struct rma_type *p = rma_type(handle_of(pairs)), *s = rma_type(handle_of(squeezed)),
			      *f = rma_type(handle_of(f90)), *m = rma_type(handle_of(mixed));
	CHECK(p->dense && p->element == K_F64_I && p->size == 60 && p->bytes == 80 &&
			p->exact->nruns == 5,
		"pairs");
	CHECK(!s->exact && s->element == -1 && s->bytes == 12 && s->dense, "pairs that overlap");
	CHECK(f->element == K_F64 && f->dense, "a selected kind");
	CHECK(m->element == -1 && m->dense && m->nruns == 1, "a mixed struct");
	MPI_Type_free(&pairs);
	MPI_Type_free(&squeezed);
	MPI_Type_free(&mixed);
}

// Threads use types of their own, whose handles the MPI reuses, and common ones.
static void *use_types(void *unused)
{
	for (int i = 0; i < 5000; i++) {
		MPI_Datatype type;
		MPI_Type_vector(2, 1 + i % 50, 60, MPI_INT, &type);
		MPI_Type_commit(&type);
		for (int k = 0; k < 3; k++) {
			const struct rma_type *t = rma_type(handle_of(type)),
					      *common = rma_type(handle_of(MPI_DOUBLE));
			CHECK(t && t->size == 8 * (1 + i % 50) && t->nruns == 2,
				"a type is another");
			CHECK(common && common->element == K_F64, "a common type is another");
		}
		MPI_Type_free(&type);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t thread[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, use_types, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
	int level;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	CHECK(abi_open(), "no MPI");
	elements();
	derived();
	random_types();
	if (level == MPI_THREAD_MULTIPLE)
		threads();
	MPI_Finalize();
	puts("datatypes: passed");
	return 0;
}
