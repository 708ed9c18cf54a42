// SPDX-License-Identifier: BSD-3-Clause
// The rates that protocols between nodes are made of: registering memory with the device, ending
// that, copying, reading over bare verbs. Consecutive accesses use other memory, of a space that is
// larger than caches are.
#ifndef RATES_H
#define RATES_H

#include "link.h"
#include "papers.h"

struct rates {
	struct link link; // a device and a protection domain; a connection with as much memory
	bool connected;
	char *from, *to; // of rates_space() bytes each
	size_t bytes, next;
	double clock; // what the bodies count
};

size_t rates_space(void);
// The offset of the next place of so many bytes, on a page of its own.
size_t rates_place(size_t bytes, size_t *next);

// Of rank 0; with a connection of its peer as well, which is only connected.
void rates_open(struct rates *r, bool connect);
void rates_close(struct rates *r);

// Bodies; their argument is a struct rates.
void rates_register(void *arg, long n);
void rates_both(void *arg, long n); // registers and deregisters
void rates_lock(void *arg, long n); // mlock and munlock
void rates_copy(void *arg, long n);
void rates_read(void *arg, long n); // one read after the other

// Seconds that ending a registration takes, the mean of as many as fit into a sample.
double rates_deregister(struct rates *r, double seconds);

#endif
