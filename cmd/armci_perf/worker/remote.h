// SPDX-License-Identifier: BSD-3-Clause
// What the measurements of operations on a rank of another node share: an operation, what a raw socket moves for it, and
// loops over both. What is measured is in remote_*.c.
#ifndef PERF_REMOTE_H
#define PERF_REMOTE_H

#include "perf.h"
#include "wire.h"

enum { PERF_SCATTERED = 1000, PERF_APART = 17 }; // scattered doubles, one of so many

struct remote {
	struct perf_wire wire;
	char *mine, *theirs;
	int stride[1], count[2];
	armci_giov_t put, get;
	size_t out, back; // what the raw socket sends (beyond its head) and gets back for one operation
	int each;         // operations before a fence, or before the raw side waits for answers
	enum perf_style style;
	void (*one)(struct remote *r);
	double clock;
};

// Collective; finish frees what begin made. Without a socket: other baselines are not this file's business.
struct remote remote_begin(void **all, size_t bytes);
struct remote remote_without_socket(void **all, size_t bytes);
void remote_finish(struct remote *r, void **all);

// A figure of `one`, in loops by `ours` beside loops by `beside`; c says the rest. Collective.
void remote_measure(struct remote *r, struct perf_case c, void (*one)(struct remote *r), perf_body ours, perf_body beside);
// The figure beside the raw socket in each of the three ways to wait: three rows, op/mixed, op/spinning and op/blocking.
void remote_styles(struct remote *r, const char *op, double bytes, void (*one)(struct remote *r), perf_body ours);

// Bodies. Stores are followed by a fence: it, too, says that all has arrived.
void remote_ours(void *arg, long n);
void remote_fenced(void *arg, long n);
void remote_raw(void *arg, long n);      // one request and its answer after the other
void remote_raw_puts(void *arg, long n); // the last of `each` requests is answered
void remote_raw_gets(void *arg, long n); // `each` requests, then their answers

// Operations.
void remote_put(struct remote *r);
void remote_get(struct remote *r);
void remote_fetch_add(struct remote *r);

#endif
