// SPDX-License-Identifier: BSD-3-Clause
// Protocols between two nodes beside each other. A process reads its settings once, so the ranks of a node differ in one (-e
// NAME=VALUE,...; bench/worker/groups.c), and those of the first node take turns: rank i has the i-th value. Without -e rank 0
// alone works, by whatever is set.
#ifndef VARIANTS_H
#define VARIANTS_H

#include "papers.h"

// A way to do something: by a rank of the first node, in a loop.
struct variants_way {
	const char *name;
	int rank;
	perf_body body;
	void *arg;
	double *clock; // NULL, or where the body adds the seconds that count
};

// Ends the job with a message if there are not two nodes with a rank for each value on each, or, unless it is NULL, over
// another network.
void variants_need(const char *group, const char *network);
int variants_count(void);
int variants_index(void);            // which of them this rank has; -1: it is of the second node
const char *variants_name(int i);    // the value, or what is set, or the network
// Lists a way for each of the values; returns how many.
int variants_list(struct variants_way *w, perf_body body, void *arg);
// Measures the ways by turns in each repetition, the order moving on. On all ranks, in the unit of the case. Collective.
void variants_measure(const struct perf_case *c, const struct variants_way *w, int n, double figure[][PERF_REPS_MAX]);

#endif
