// SPDX-License-Identifier: BSD-3-Clause
// The ways to bring a rank the elements of x that it needs of others (fetch.c); only they differ
// between versions.
#ifndef FETCH_H
#define FETCH_H

#include "sparse.h"

// What is prepared once for all products.
struct fetch {
	const struct part *part;
	double *packed;         // my elements that others need
	MPI_Request *requests;
	armci_hdl_t *handles;   // one-sided: one for each owner
	// one descriptor for each length of runs and owner, for buffer 0 and then for buffer 1
	armci_giov_t *vectors;
	int *vector_from;       // by owner, and the end
	void **sources, **destinations;
};

void fetch_make(struct fetch *f, const struct part *p);
void fetch_free(struct fetch *f);

// Each brings the ghosts of a buffer of x, which its owners have written before they call it.
// Collective.
void fetch_messages(struct fetch *f, int buffer);
void fetch_gets(struct fetch *f, int buffer);
void fetch_aggregate(struct fetch *f, int buffer);
void fetch_vectors(struct fetch *f, int buffer);
void fetch_puts(struct fetch *f, int buffer);

#endif
