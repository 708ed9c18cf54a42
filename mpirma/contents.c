// SPDX-License-Identifier: BSD-3-Clause
// Reads how a datatype was made (MPI_Type_get_envelope, MPI_Type_get_contents) into one form,
// whatever the MPI: handles may be pointers or ints, counts small or large. It decides nothing
// about layout: see flatten.c.
#include "abi_values.h"
#include "datatype.h"

#include <stdlib.h>
#include <string.h>

// Constants of Open MPI's own ABI: see standardise_array_constants.
enum {
	OPEN_ORDER_C = 0,
	OPEN_DISTRIBUTE_BLOCK = 0,
	OPEN_DISTRIBUTE_NONE = 2,
	OPEN_DISTRIBUTE_DFLT_DARG = -1
};

// What MPI_Type_get_envelope gives: how many integers, addresses, large counts and datatypes there
// are. combiner is the MPI's number, and then one of enum combiner.
struct envelope {
	count_t ints, aints, large, types;
	int combiner;
};

// combiner_of translates the MPI's number of a combiner.
static enum combiner combiner_of(int number)
{
	static const struct { int open, mpich, standard; } numbers[] = {
#define NUMBERS(combiner, name, open, mpich, standard) [combiner] = { open, mpich, standard },
		ABI_COMBINERS(NUMBERS) ABI_COMBINERS_OLD(NUMBERS)
	};
	for (int i = 0; i < COMBINER_OTHER; i++) {
		int one = abi.flavour == BOOT_MPI_OPEN ? numbers[i].open :
			abi.flavour == BOOT_MPI_MPICH  ? numbers[i].mpich :
							 numbers[i].standard;
		if (one == number)
			return (enum combiner)i;
	}
	return COMBINER_OTHER;
}

static bool read_envelope(handle type, struct envelope *e)
{
	int ints = 0, aints = 0, types = 0, code;
	*e = (struct envelope){ 0 };
	if (real.Type_get_envelope_c && real.Type_get_contents_c) {
		code = real.Type_get_envelope_c(type, &e->ints, &e->aints, &e->large, &e->types,
			&e->combiner);
	} else {
		code = real.Type_get_envelope(type, &ints, &aints, &types, &e->combiner);
		e->ints = ints;
		e->aints = aints;
		e->types = types;
	}
	e->combiner = combiner_of(e->combiner);
	return code == 0;
}

int contents_combiner(handle type)
{
	struct envelope e;
	return read_envelope(type, &e) ? e.combiner : -1;
}

static bool get_contents(handle type, const struct envelope *e, int *ints, aint *aints,
	count_t *large, void *types)
{
	if (real.Type_get_envelope_c && real.Type_get_contents_c)
		return real.Type_get_contents_c(type, e->ints, e->aints, e->large, e->types, ints,
			       aints, large, types) == 0;
	return real.Type_get_contents(type, (int)e->ints, (int)e->aints, (int)e->types, ints, aints,
		       types) == 0;
}

// How many integers come before the addresses, where both are in one array.
static int64_t integers_before(const struct contents *c)
{
	switch (c->combiner) {
	case COMBINER_HVECTOR: case COMBINER_HINDEXED_BLOCK: return 2;
	case COMBINER_HINDEXED: case COMBINER_STRUCT:        return 1 + c->n[0];
	default:                                             return 0;
	}
}

// The old functions for Fortran took integers as addresses.
static bool fold_integer_combiner(struct contents *c)
{
	bool old = c->combiner == COMBINER_HVECTOR_INTEGER ||
		c->combiner == COMBINER_HINDEXED_INTEGER || c->combiner == COMBINER_STRUCT_INTEGER;
	c->combiner += old;
	return old;
}

// The integers of a type of small counts are ints; of large counts they are in `large`, but for
// those that are never large.
static void fill_integers(struct contents *c, const struct envelope *e, const int *ints,
	const count_t *large)
{
	int64_t first = e->ints;
	if (e->large && c->combiner == COMBINER_SUBARRAY)
		first = 1; // dimensions, LARGE, order
	if (e->large && c->combiner == COMBINER_DARRAY)
		first = 3; // size, rank, dimensions, LARGE, the rest
	for (int64_t i = 0; i < first; i++)
		c->n[i] = ints[i];
	for (int64_t i = 0; i < e->large; i++)
		c->n[first + i] = large[i];
	for (int64_t i = first; i < e->ints; i++)
		c->n[e->large + i] = ints[i];
}

static void replace_constant(int64_t *number, int64_t open, int64_t standard)
{
	if (*number == open)
		*number = standard;
}

// Open MPI 6.0's libmpi_abi gives the constants of its own ABI among the integers of arrays, none
// of which is one of the standard. Only those that grid.c compares with are replaced.
static void standardise_array_constants(struct contents *c)
{
	int64_t *n = c->n;
	if (c->combiner == COMBINER_SUBARRAY)
		replace_constant(&n[1 + 3 * n[0]], OPEN_ORDER_C, abi.order_c);
	if (c->combiner != COMBINER_DARRAY)
		return;
	int64_t d = n[2], *how = n + 3 + d, *argument = how + d;
	replace_constant(&n[3 + 4 * d], OPEN_ORDER_C, abi.order_c);
	for (int64_t i = 0; i < d; i++) {
		replace_constant(&how[i], OPEN_DISTRIBUTE_BLOCK, abi.distribute_block);
		replace_constant(&how[i], OPEN_DISTRIBUTE_NONE, abi.distribute_none);
		replace_constant(&argument[i], OPEN_DISTRIBUTE_DFLT_DARG, abi.distribute_default);
	}
}

static void fill(struct contents *c, const struct envelope *e, const int *ints, const aint *aints,
	const count_t *large, const void *types)
{
	bool one_array = fold_integer_combiner(c) || e->large;
	fill_integers(c, e, ints, large);
	if (abi.flavour == BOOT_MPI_STANDARD)
		standardise_array_constants(c);
	for (int64_t i = 0; i < e->aints; i++)
		c->at[i] = aints[i];
	if (one_array)
		c->at = c->n + integers_before(c);
	for (int64_t i = 0; i < e->types; i++)
		c->types[i] = abi.pointers ? ((const uintptr_t *)types)[i] :
					     ((const uint32_t *)types)[i];
	c->ntypes = e->types;
}

bool contents_read(handle type, struct contents *c)
{
	struct envelope e;
	memset(c, 0, sizeof *c);
	c->combiner = COMBINER_NAMED;
	if (!read_envelope(type, &e) || e.combiner == COMBINER_NAMED)
		return false;
	c->combiner = (enum combiner)e.combiner;
	size_t words = (size_t)(e.ints + e.aints + e.large + e.types);
	c->memory = malloc(2 * words * sizeof(int64_t) + 1);
	if (!c->memory)
		return false;
	c->n = c->memory;
	c->at = c->n + e.ints + e.large;
	c->types = (handle *)(c->at + e.aints);
	aint *aints = (aint *)(c->types + e.types);
	count_t *large = (count_t *)(aints + e.aints);
	handle *types = (handle *)(large + e.large);
	int *ints = (int *)(types + e.types);
	if (!get_contents(type, &e, ints, aints, large, types)) {
		contents_free(c);
		return false;
	}
	fill(c, &e, ints, aints, large, types);
	return true;
}

// The MPI gives new handles of derived types, and predefined ones as they are.
static bool is_derived(handle type)
{
	int combiner = predefined_class(type) ? COMBINER_NAMED : contents_combiner(type);
	return combiner > COMBINER_NAMED &&
		!(combiner >= COMBINER_F90_REAL && combiner <= COMBINER_F90_INTEGER);
}

void contents_free(struct contents *c)
{
	for (int64_t i = 0; i < c->ntypes; i++) {
		handle type = c->types[i];
		if (is_derived(type))
			real.Type_free(&type);
	}
	free(c->memory);
	memset(c, 0, sizeof *c);
}
