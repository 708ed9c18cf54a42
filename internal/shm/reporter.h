// SPDX-License-Identifier: BSD-3-Clause
// Shared by the reporter (reporter.c), the code that starts it (reporter_start.c) and the ranks that it watches. It must not
// grow into a protocol: a rank writes one byte, its status.
#ifndef ARMCI_SHM_REPORTER_H
#define ARMCI_SHM_REPORTER_H

// The reporter's only byte, to rank 0: from now on it sees which rank ends first.
#define REPORTER_READY 'r'

// The byte that a rank writes before its connection ends.
#define REPORTER_FINALISED 'f'
#define REPORTER_LEFT      'l' // exits with status 0 without finalising
#define REPORTER_REPORTED  't' // the job ends and another rank has printed why: the reporter ends silently

// Starts the reporter with argv, its name and n lines, to watch connections watched[n]. It prints
// unless a rank holds the claim. 0, or -1 with errno set.
int shm_reporter_start(char **argv, char *claim, int n, const int *watched);

#endif
