// SPDX-License-Identifier: BSD-3-Clause
// What the creation of Go's threads needs of space.c, which explains limits that are too low for
// Go.
#ifndef GUEST_SPACE_H
#define GUEST_SPACE_H

// Ends the process with a line about the limit that keeps a thread from being created; err is an
// error number.
void space_no_thread(int err) __attribute__((noreturn));

#endif
