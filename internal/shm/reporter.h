// SPDX-License-Identifier: BSD-3-Clause
// Shared by the reporter (reporter.c), the code that starts it (reporter_start.c) and the ranks
// that it watches. It must not grow into a protocol: a rank writes one byte, its status.
#ifndef ARMCI_SHM_REPORTER_H
#define ARMCI_SHM_REPORTER_H

// The reporter's only byte, to rank 0: from now on it sees which rank ends first.
#define REPORTER_READY 'r'

// The byte that a rank writes before its connection ends.
#define REPORTER_FINALISED 'f'
#define REPORTER_LEFT      'l' // exits with status 0 without finalising
#define REPORTER_REPORTED  't' // another rank has printed why the job ends
#define REPORTER_CLAIMED   'c' // this rank has the claim and prints, even if it is dead by now

// Starts the reporter with argv, its name and a line for each rank, environment, and descriptors
// given[n], see reporter.c. 0, or -1 with errno set.
int shm_reporter_start(char **argv, char **environment, int n, const int *given);

#endif
