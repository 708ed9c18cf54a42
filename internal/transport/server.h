// SPDX-License-Identifier: BSD-3-Clause
// server.h - whether a transfer that the device could make goes by a message to the target's data
// server, which may sleep. C and Go decide by the same rule.
#ifndef ARMCI_SERVER_H
#define ARMCI_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// What an origin knows of the thread that serves a node for messages: it looks for the next one
// for a while, FAST_AWAKE at least, and then sleeps. A message that wakes it takes as long as
// hundreds of a device's requests, which need no thread there. All times are nanoseconds.
#define FAST_AWAKE 10000u
struct fast_server {
	_Atomic uint64_t awake; // until then, of CLOCK_MONOTONIC
	_Atomic uint64_t end;   // of the last transfer that an awake one would have made faster
	_Atomic uint64_t lost;  // the time that those of this burst have lost
};
#define FAST_SERVERS 64u
struct fast_server *fast_server(unsigned number); // servers share places
// Records that something has come from a server that handles messages.
void fast_heard(struct fast_server *s);
void fast_heard_at(struct fast_server *s, uint64_t now);
// Whether a transfer that takes the device `device` goes by a message, which takes `message`, and
// `wake` more if the server sleeps. A server that sleeps is woken when transfers that follow each
// other closely have lost that time: then they take twice as long as with the better choice at
// most, however many there will be.
bool fast_asks(struct fast_server *s, uint64_t device, uint64_t message, uint64_t wake);
bool fast_asks_at(struct fast_server *s, uint64_t now, uint64_t device, uint64_t message,
	uint64_t wake);

#endif
