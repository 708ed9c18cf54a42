// SPDX-License-Identifier: BSD-3-Clause
// raw.h - what the raw verbs program can do between two hosts: check, measure, try a registration.
// main.c chooses.
#ifndef RAW_H
#define RAW_H

#include "link.h"

#define RAW_MEMORY ((size_t)8 << 20) // at each end

int raw_dial(const char *host); // a socket to the other end, which may not be there yet
int raw_answer(void);
void raw_wait(int socket); // until the other end has closed it

void raw_check(struct link *l);
void raw_measure(struct link *l, bool quick);
void raw_register(size_t bytes);

#endif
