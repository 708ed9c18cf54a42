// SPDX-License-Identifier: BSD-3-Clause
//
// A thread that reads a userfaultfd's events into a queue, for one reader in Go. It is a thread of
// C: a thread that unmaps watched memory is blocked until the event has been read, and that thread
// may be Go's runtime, with all of Go stopped.
#ifndef ARMCI_PIN_WATCH_H
#define ARMCI_PIN_WATCH_H

#include <linux/userfaultfd.h>
#include <stdatomic.h>
#include <stdint.h>

enum { PIN_EVENTS = 1024 }; // a power of two

// Memory from lo to hi has changed. moved: its new address, 0 if it is gone; kept: its addresses
// are still mapped.
struct pin_event {
	uint64_t lo, hi, moved, kept;
};

struct pin_watch {
	_Atomic uint64_t reading; // odd while events are being read and are not all queued yet
	_Atomic uint64_t written; // events so far, by the thread
	_Atomic uint64_t taken;   // events so far, by the reader
	_Atomic uint64_t lost;    // not 0: events were lost, since the queue was full
	int fd;                   // the userfaultfd
	int bell, stop;           // eventfds: there are events; the thread is to end
	unsigned long thread;
	struct uffdio_writeprotect none; // a request about no memory, which has no effect
	struct pin_event events[PIN_EVENTS];
};

// Starts the thread: 0 or an errno value. The caller closes the descriptors after pin_watch_join.
// A write to stop, an eventfd, ends the thread.
int pin_watch_start(struct pin_watch *w);
void pin_watch_join(struct pin_watch *w);

#endif
