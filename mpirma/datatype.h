// SPDX-License-Identifier: BSD-3-Clause
// How a datatype becomes runs of bytes: contents.c reads how it was made, flatten.c makes runs,
// grid.c those of arrays, layout.c the result, datatype.c keeps it. Private to these files.
#ifndef MPIRMA_DATATYPE_H
#define MPIRMA_DATATYPE_H

#include "predefined.h"

// Each MPI has numbers of its own (abi_values.h). The _INTEGER ones, of functions that MPI-3
// removed, are read as the others.
enum combiner {
	COMBINER_NAMED,
	COMBINER_DUP,
	COMBINER_CONTIGUOUS,
	COMBINER_VECTOR,
	COMBINER_HVECTOR_INTEGER,
	COMBINER_HVECTOR,
	COMBINER_INDEXED,
	COMBINER_HINDEXED_INTEGER,
	COMBINER_HINDEXED,
	COMBINER_INDEXED_BLOCK,
	COMBINER_STRUCT_INTEGER,
	COMBINER_STRUCT,
	COMBINER_SUBARRAY,
	COMBINER_DARRAY,
	COMBINER_F90_REAL,
	COMBINER_F90_COMPLEX,
	COMBINER_F90_INTEGER,
	COMBINER_RESIZED,
	COMBINER_HINDEXED_BLOCK,
	COMBINER_OTHER, // one that is not known
};

// The arguments of the call that made a type, as MPI_Type_get_contents documents them, for types of
// small and of large counts alike.
struct contents {
	enum combiner combiner;
	int64_t *n;    // integers
	int64_t *at;   // addresses
	handle *types; // to be given back
	int64_t ntypes;
	void *memory;
};
// False if the type is named (combiner says so), or memory is short, or the MPI refuses (combiner
// is another).
bool contents_read(handle type, struct contents *c);
void contents_free(struct contents *c);
// How a type was made; -1: the MPI does not say.
int contents_combiner(handle type);

// Runs under construction.
struct map {
	struct k_span *runs;
	int64_t n, room;
	int element; // enum k_update_type; ELEMENT_NONE yet; ELEMENT_MIXED
	bool whole;  // pairs are to be taken with their padding
	bool padded; // and there were such
	bool failed; // no memory, or a datatype that is not understood
};
enum { ELEMENT_MIXED = -1, ELEMENT_NONE = -2 };

// A type inside another: its runs, and what MPI says its extent is.
struct part {
	struct map map;
	int64_t lb, extent;
};

void map_add(struct map *m, int64_t offset, int64_t bytes);
// Puts `count` elements of a part one after another at an offset.
void map_place(struct map *m, const struct part *p, int64_t count, int64_t offset);
// Appends one element of a type. An unknown type fails.
void map_flatten(struct map *m, handle type);
// The two array types: their elements' type is in `p`.
void map_subarray(struct map *m, const struct contents *c, const struct part *p);
void map_darray(struct map *m, const struct contents *c, const struct part *p);

// Fills a zeroed struct. False: no memory, or a type that is not understood; then and later
// type_clear gives back what it has.
bool type_make(struct rma_type *t, handle type);
void type_clear(struct rma_type *t);

int64_t type_size(handle type);
void type_extent(handle type, int64_t *lb, int64_t *extent);

#endif
