// SPDX-License-Identifier: BSD-3-Clause
// What the reporter (reporter.c), the code that starts it (reporter_start.c) and the ranks it watches agree on.
// It must not grow into a protocol: one byte from a rank is all there is.
#ifndef ARMCI_SHM_REPORTER_H
#define ARMCI_SHM_REPORTER_H

// The reporter's only word, to rank 0: from now on it sees who is the first to end.
#define REPORTER_READY 'r'

// The word of a rank, before its connection ends.
#define REPORTER_FINALISED 'f'
#define REPORTER_LEFT      'l' // exits with status 0 without finalising
#define REPORTER_TOLD      't' // the job ends, and somebody else says why: the reporter is to end silently

// Starts the reporter with argv, its name and n lines, watching connections watched[n]. 0, or -1: errno tells.
int shm_reporter_start(char **argv, int n, const int *watched);

#endif
