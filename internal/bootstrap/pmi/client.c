// SPDX-License-Identifier: BSD-3-Clause
// What both clients by library need.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "pmi.h"

// A function's address becomes a pointer without a cast that the language does not know.
int pmi_find(void *library, const char *name, void *pointer)
{
	void *f = dlsym(library, name);
	memcpy(pointer, &f, sizeof f);
	return f != NULL;
}

static const struct pmi_client *client(int which) { return which == PMI_X ? pmi_x() : pmi_2(); }

const char *pmi_load(int which) { return client(which)->load(); }

// A process that is told its rank by both interfaces opens one of them.
const char *pmi_open(int which, struct pmi_place *place)
{
	static struct pmi_place known[2];
	static int opened[2];
	if (!opened[which]) {
		const char *why = client(which)->open(&known[which]);
		if (why)
			return why;
		opened[which] = 1;
		pmi_at_exit(client(which)->close);
	}
	*place = known[which];
	return NULL;
}

int pmi_put(int which, const char *key, const char *value)
{
	return client(which)->put(key, value);
}
int pmi_fence(int which) { return client(which)->fence(); }
void pmi_abort(int which, int status, const char *message)
{
	client(which)->abort(status, message);
}

int pmi_get(int which, int rank, const char *key, char *value, int bytes)
{
	return client(which)->get(rank, key, value, bytes);
}
