// SPDX-License-Identifier: BSD-3-Clause
// The environment in which libfabric is called. Its providers read parameters from the environment
// or from a file of the administrator: no hint of fi_getinfo reaches them, and fi_param_define and
// fi_param_get have no counterpart that sets. Some are read once, by the first question, others
// whenever a domain or endpoint is opened.
//
// The process is the application's, so its environment stays as it is: setenv and unsetenv change
// the array that another thread may be reading. Instead, environ points to another array during a
// call, which has the application's entries and ours behind them.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libfabric.h"

// Used unless the user has set them.
static char *const parameters[] = {
	// a library below it (libinfinipath) would take over signals for crash reports of its own
	"IPATH_NO_BACKTRACE=1",
	// else ofi_rxm has 64 MiB of buffers for each endpoint
	"FI_OFI_RXM_MSG_RX_SIZE=64",
	// else ofi_rxm asks for a completion queue that some verbs devices do not have
	"FI_UNIVERSE_SIZE=64",
	// without one list of receive buffers for all connections ofi_rxm offers buffers, over
	// verbs, to a connection that it has just closed
	"FI_OFI_RXM_USE_SRX=1",
};
enum { PARAMETERS = sizeof parameters / sizeof parameters[0] };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // held between begin and end
static char **before; // environ of the application, during a call
static char **ours;   // environ during a call; NULL: the application's, for want of memory

static bool contains(char *const *all, const char *parameter)
{
	size_t name = strcspn(parameter, "=") + 1;
	for (; *all; all++)
		if (strncmp(*all, parameter, name) == 0)
			return true;
	return false;
}

// extend returns an array of the n entries of `all` and the parameters; NULL: no memory.
static char **extend(char **all, size_t n)
{
	char **longer = calloc(n + PARAMETERS + 1, sizeof *longer);
	if (!longer)
		return NULL;
	if (n > 0)
		memcpy(longer, all, n * sizeof *longer);
	for (int i = 0; i < PARAMETERS; i++)
		if (!contains(longer, parameters[i]))
			longer[n++] = parameters[i];
	return longer;
}

void lf_environment_begin(void)
{
	static size_t entries; // of the application's that `ours` begins with
	size_t n = 0;
	pthread_mutex_lock(&lock);
	before = environ;
	while (before && before[n]) n++;
	// An array that is no longer used is not freed: another thread's getenv may be reading it.
	if (!ours || n != entries || (n > 0 && memcmp(ours, before, n * sizeof *ours) != 0))
		ours = extend(before, n);
	entries = n;
	if (ours)
		environ = ours;
}

void lf_environment_end(void)
{
	if (environ == ours) // else another thread has called setenv, which has made a copy
		environ = before;
	pthread_mutex_unlock(&lock);
}
