// SPDX-License-Identifier: BSD-3-Clause
// raw - RDMA between two hosts by verbs alone: shows that the devices of the virtual machine work,
// and is the baseline of what the library can reach. `raw serve N` on one host serves N runs of
// `raw check|quick|full HOST` on the other; `raw register BYTES` tries a registration. It must not
// use the library.
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void serve(void)
{
	struct link l = {0};
	link_open(&l, raw_answer(), RAW_MEMORY);
	raw_wait(l.socket);
	link_close(&l);
}

static void lead(const char *way, const char *host)
{
	struct link l = {0};
	link_open(&l, raw_dial(host), RAW_MEMORY);
	if (strcmp(way, "check") == 0)
		raw_check(&l);
	else
		raw_measure(&l, strcmp(way, "quick") == 0);
	link_close(&l);
}

int main(int argc, char **argv)
{
	const char *way = argc == 3 ? argv[1] : "";
	if (strcmp(way, "serve") == 0) {
		for (int n = atoi(argv[2]); n > 0; n--)
			serve();
	} else if (strcmp(way, "register") == 0) {
		raw_register(strtoul(argv[2], NULL, 0));
	} else if (strcmp(way, "check") == 0 || strcmp(way, "quick") == 0 ||
		strcmp(way, "full") == 0) {
		lead(way, argv[2]);
	} else {
		fprintf(stderr,
			"usage: raw serve N | check HOST | quick HOST | full HOST | register "
			"BYTES\n");
		return 2;
	}
	return 0;
}
