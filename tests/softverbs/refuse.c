// SPDX-License-Identifier: BSD-3-Clause
// Calls that fail as if the kernel had no memory: SOFTVERBS_REFUSE=CALL:N refuses the Nth ibv_CALL
// of the process. With CALL:N:crash it ends in a fault, as of a driver with a bug.
#include "softverbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	char call[24];
	long at;
	bool crashes;
	_Atomic long calls;
} refuse;

void refuse_read(void)
{
	const char *text = getenv("SOFTVERBS_REFUSE");
	const char *colon = text ? strchr(text, ':') : NULL;
	if (!text || !*text || refuse.at)
		return;
	if (!colon || (size_t)(colon - text) >= sizeof refuse.call || atol(colon + 1) < 1) {
		fprintf(stderr, "softverbs: SOFTVERBS_REFUSE=%s: CALL:N is expected\n", text);
		exit(2);
	}
	memcpy(refuse.call, text, (size_t)(colon - text));
	refuse.at = atol(colon + 1);
	refuse.crashes = strstr(colon, ":crash") != NULL;
}

bool refused(const char *call)
{
	if (refuse.at == 0 || strcmp(call, refuse.call) != 0 ||
		atomic_fetch_add(&refuse.calls, 1) + 1 != refuse.at)
		return false;
	if (refuse.crashes)
		*(volatile int *)NULL = 0;
	fprintf(stderr, "softverbs: call %ld of ibv_%s is refused\n", refuse.at, call);
	errno = ENOMEM;
	return true;
}
