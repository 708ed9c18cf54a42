// SPDX-License-Identifier: BSD-3-Clause
// What calls from C into Go need of procs.c.
#ifndef GUEST_PROCS_H
#define GUEST_PROCS_H

void procs_begin(void); // before Go runs
void procs_enter(void); // in a thread of the application that enters Go for the first time

#endif
