// SPDX-License-Identifier: BSD-3-Clause
// capture.h - reads what a call prints on standard error. It must not decide what is right.
#ifndef CAPTURE_H
#define CAPTURE_H

#include "check.h"
#include <unistd.h>

struct capture {
	FILE *file;
	int saved;
	char text[4096];
	int lines;
};

static inline void capture_begin(struct capture *c)
{
	fflush(stderr);
	c->file = tmpfile();
	c->saved = dup(2);
	CHECK(c->file != NULL && c->saved >= 0);
	dup2(fileno(c->file), 2);
}

// Standard error is itself again; text and lines tell what was printed.
static inline void capture_end(struct capture *c)
{
	fflush(stderr);
	dup2(c->saved, 2);
	close(c->saved);
	rewind(c->file);
	size_t n = fread(c->text, 1, sizeof c->text - 1, c->file);
	c->text[n] = 0;
	fclose(c->file);
	c->lines = 0;
	for (size_t i = 0; i < n; i++)
		c->lines += c->text[i] == '\n';
}

// Exactly one line that names the function, the argument and this rank.
static inline int capture_is(const struct capture *c, const char *function, const char *argument)
{
	char rank[32];
	snprintf(rank, sizeof rank, "[%d@", me);
	return c->lines == 1 && strstr(c->text, function) && strstr(c->text, argument) &&
		strstr(c->text, rank);
}

#endif
