// SPDX-License-Identifier: BSD-3-Clause
// The clients by library, PMI-2 and PMIx, alike for Go; and what PMI-1, which is spoken in Go, does
// at exit. One thread at a time calls them, except abort.
#ifndef LIBARMCI_PMI_H
#define LIBARMCI_PMI_H

// The place of this process in the launcher's job.
struct pmi_place {
	int rank, size;
	int local; // ranks on this host, 0 if unknown
};

// One interface by the launcher's library. put, fence and get return 0, or an error code of the
// library.
struct pmi_client {
	// Loads the library: NULL, or why not. The launcher hears nothing of it.
	const char *(*load)(void);
	// Joins the job: NULL, or why not. A job is joined once in the life of a process.
	const char *(*open)(struct pmi_place *place);
	int (*put)(const char *key, const char *value);
	int (*fence)(void); // what was put before can be got afterwards; collective
	int (*get)(int rank, const char *key, char *value, int bytes);
	void (*abort)(int status, const char *message); // returns if the launcher cannot be asked
	void (*close)(void); // leaves the job
};

enum { PMI_2, PMI_X };

const struct pmi_client *pmi_2(void), *pmi_x(void);

// The same for both; which is one of PMI_2 and PMI_X.
const char *pmi_load(int which);
const char *pmi_open(int which, struct pmi_place *place);
int pmi_put(int which, const char *key, const char *value);
int pmi_fence(int which);
int pmi_get(int which, int rank, const char *key, char *value, int bytes);
void pmi_abort(int which, int status, const char *message);

// Finds a function of a library; false if it has none of that name.
int pmi_find(void *library, const char *name, void *pointer);

// Arranges for what ends the use of an interface, at exit() or the end of main. Some launchers take
// a process that ends without that for one that has failed.
void pmi_at_exit(void (*close)(void));
// That for PMI-1: sends the line cmd=finalize over the socket fd, and waits for the answer for ms
// milliseconds at most.
void pmi_1_at_exit(int fd, int ms);
// Does so now, the last interface first; once for each of these calls. It has no effect in a forked
// process.
void pmi_leave(void);
// True from the first of these calls to that of pmi_leave; false in a forked process.
int pmi_in_job(void);

#endif
