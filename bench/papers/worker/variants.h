// SPDX-License-Identifier: BSD-3-Clause
// Protocols between two nodes beside each other. A process reads its settings once, so the ranks of
// a node differ in one (-e NAME=VALUE,...; bench/worker/groups.c), and those of the first node take
// turns: rank i has the i-th value. Without -e rank 0 alone works, by whatever is set.
#ifndef VARIANTS_H
#define VARIANTS_H

#include "papers.h"

// Ends the job with a message if there are not two nodes with a rank for each value on each, or not
// RDMA between them, if the group needs it.
void variants_need(const char *group, bool rdma);
int variants_count(void);
int variants_index(void);         // which of them this rank has; -1: it is of the second node
const char *variants_name(int i); // the value, or what is set, or the network

#endif
