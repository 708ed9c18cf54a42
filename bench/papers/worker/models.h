// SPDX-License-Identifier: BSD-3-Clause
// Paper 002's models of the bandwidth of a get: from the rates at which memory is copied and
// registered, and of the network.
#ifndef MODELS_H
#define MODELS_H

#include "rdma.h"

// Prints what the models say beside what the scheme they are about has reached, repetition by
// repetition. The ways have the rates: copy, registration, raw.
void models_rows(const struct perf_case *c, const struct rdma_way *way, int n,
	double figure[][TIMING_REPS_MAX]);

// Prints what they give for the rates of the paper's cluster beside what is printed there.
void models_of_paper(const char *op);

#endif
