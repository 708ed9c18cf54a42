// SPDX-License-Identifier: BSD-3-Clause
// Settings: environment variables, read when a device is opened.
#include "softverbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings settings;

static long number(const char *name, long usual, long most)
{
	char full[64], *end;
	snprintf(full, sizeof full, "SOFTVERBS_%s", name);
	const char *text = getenv(full);
	if (!text || !*text)
		return usual;
	long n = strtol(text, &end, 0);
	if (*end || n < 0 || n > most) {
		fprintf(stderr, "softverbs: %s=%s: a number from 0 to %ld is expected\n", full,
			text, most);
		exit(2);
	}
	return n;
}

static int atomics(void)
{
	const char *text = getenv("SOFTVERBS_ATOMICS");
	if (text && strcmp(text, "none") == 0)
		return IBV_ATOMIC_NONE;
	if (text && strcmp(text, "global") == 0)
		return IBV_ATOMIC_GLOB;
	return IBV_ATOMIC_HCA;
}

void settings_read(void)
{
	enum { MANY = 1 << 30 };
	refuse_read();
	settings = (struct settings){
		.on_demand = number("ODP", 0, 1),
		.reorder = number("REORDER", 0, 1),
		.say_open = number("SAY_OPEN", 0, 1),
		.atomics = atomics(),
		.vanish_after = number("VANISH_AFTER", 0, MANY),
		.down_after = number("PORT_DOWN_AFTER", 0, MANY),
		.down_ms = number("PORT_DOWN_MS", 0, MANY),
		.break_after = number("BREAK_AFTER", 0, MANY),
		.break_every = number("BREAK_EVERY", 0, MANY),
		.never = number("NEVER", 0, MANY),
		.late = number("LATE", 0, MANY),
		.max_pairs = (int)number("MAX_QP", PAIRS - 1, PAIRS - 1),
		.max_regions = (int)number("MAX_MR", REGIONS - 1, REGIONS - 1),
		.max_pieces = (int)number("MAX_SGE", MOST_SGE, MOST_SGE),
		.max_requests = (int)number("MAX_WR", 1 << 14, 1 << 16),
		.max_inline = (int)number("INLINE", MOST_INLINE, MOST_INLINE),
		.max_receives = (int)number("MAX_SRQ", 1 << 15, 1 << 16),
		.max_completions = (int)number("MAX_CQE", 1 << 16, 1 << 20),
	};
}
