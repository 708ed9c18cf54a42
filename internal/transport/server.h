// SPDX-License-Identifier: BSD-3-Clause
// server.h - decides whether a transfer is made by the device or sent as a message to the target's
// data server, which may sleep. C and Go decide by this rule.
#ifndef ARMCI_SERVER_H
#define ARMCI_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// An origin's estimate of the state of a node's data server. After each message the server polls
// for the next one, for FAST_AWAKE at least, and then sleeps. Waking it costs as much as hundreds
// of device requests, which need no thread at the target. All times are nanoseconds. Any thread of
// the process reads and writes the fields, without a lock; a lost update delays a wake-up.
#define FAST_AWAKE 10000u
struct fast_server {
	_Atomic uint64_t awake; // time of CLOCK_MONOTONIC until which the server is awake
	_Atomic uint64_t end;   // when the last transfer of the burst ended
	_Atomic uint64_t lost;  // time that the burst has lost by not using messages
};
#define FAST_SERVERS 64u
// The record of the server with this number. Servers whose numbers are equal modulo FAST_SERVERS
// share a record.
struct fast_server *fast_server(unsigned number);
// Records that an answer of the server has arrived: it is awake now. The second one gets the time.
void fast_heard(struct fast_server *s);
void fast_heard_at(struct fast_server *s, uint64_t now);
// Decides about a transfer: true for a message to the server, false for the device. device, message
// and wake are estimates: of the transfer by the device, of the message, and of waking the server.
// A sleeping server is woken once a burst of transfers has lost `wake` by using the device. So a
// burst takes at most twice as long as with the better choice, whatever its length. The decision
// is recorded: the caller must do as it says.
bool fast_asks(struct fast_server *s, uint64_t device, uint64_t message, uint64_t wake);
bool fast_asks_at(struct fast_server *s, uint64_t now, uint64_t device, uint64_t message,
	uint64_t wake);

#endif
