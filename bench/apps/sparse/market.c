// SPDX-License-Identifier: BSD-3-Clause
// Reads a sparse square matrix from a Matrix Market file: coordinate; real, integer or pattern;
// general, symmetric or skew-symmetric. A file that is damaged or of another kind ends the job with
// a message that names the line.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sparse.h"

// On the line of sizes: more is taken for damage. Twice as many entries, those of a symmetric
// matrix, still fit in an int.
enum { MOST_ROWS = 1 << 26, MOST_ENTRIES = 1 << 29 };

struct reader {
	const char *name;
	FILE *file;
	char *line; // the current one
	size_t room;
	int number; // its number, from 1
	bool pattern, symmetric, skew;
};

static void need(const struct reader *r, bool ok, const char *what)
{
	char text[512];
	if (ok)
		return;
	snprintf(text, sizeof text, "%s:%d: %s", r->name, r->number, what);
	app_need(false, text);
}

// Goes to the next line; false at the end of the file.
static bool next_line(struct reader *r)
{
	r->number++;
	return getline(&r->line, &r->room, r->file) >= 0;
}

// Goes to the next line that is neither a comment nor blank.
static bool next_data(struct reader *r)
{
	while (next_line(r))
		if (r->line[0] != '%' && r->line[strspn(r->line, " \t\r\n")] != 0)
			return true;
	return false;
}

static void read_banner(struct reader *r)
{
	char banner[32], object[32], format[32], field[32], symmetry[32];
	need(r, next_line(r), "the file is empty");
	int words = sscanf(r->line, "%31s %31s %31s %31s %31s", banner, object, format, field,
		symmetry);
	need(r, words == 5 && strcasecmp(banner, "%%MatrixMarket") == 0,
		"not a Matrix Market file: no %%MatrixMarket and four words");
	need(r, strcasecmp(object, "matrix") == 0, "not a matrix");
	need(r, strcasecmp(format, "coordinate") == 0,
		"only sparse matrices (coordinate) can be read, not array");
	need(r, strcasecmp(field, "complex") != 0, "complex matrices cannot be read");
	r->pattern = strcasecmp(field, "pattern") == 0;
	bool numbers = strcasecmp(field, "real") == 0 || strcasecmp(field, "integer") == 0;
	need(r, r->pattern || numbers, "the field is not real, integer or pattern");
	need(r, strcasecmp(symmetry, "hermitian") != 0, "hermitian matrices cannot be read");
	r->skew = strcasecmp(symmetry, "skew-symmetric") == 0;
	r->symmetric = r->skew || strcasecmp(symmetry, "symmetric") == 0;
	need(r, r->symmetric || strcasecmp(symmetry, "general") == 0,
		"the symmetry is not general, symmetric or skew-symmetric");
}

// A whole number low .. high at *p, which moves behind it.
static long read_number(struct reader *r, char **p, long low, long high, const char *what)
{
	char *end, text[128];
	errno = 0;
	long value = strtol(*p, &end, 10);
	snprintf(text, sizeof text, "%s: a number from %ld to %ld is expected", what, low, high);
	need(r, end != *p && errno == 0 && value >= low && value <= high && strchr(" \t\r\n", *end),
		text);
	*p = end;
	return value;
}

static void read_end(struct reader *r, char *p)
{
	need(r, p[strspn(p, " \t\r\n")] == 0, "more on the line than expected");
}

static void read_entry(struct reader *r, struct entries *e)
{
	char *p = r->line, *end;
	double value = 1;
	int row = (int)read_number(r, &p, 1, e->n, "row") - 1;
	int column = (int)read_number(r, &p, 1, e->n, "column") - 1;
	if (!r->pattern) {
		value = strtod(p, &end);
		need(r, end != p && strchr(" \t\r\n", *end) && value - value == 0,
			"the value is missing or not a finite number");
		p = end;
	}
	read_end(r, p);
	need(r, !r->symmetric || row >= column,
		"an entry above the diagonal of a symmetric matrix");
	need(r, !r->skew || row != column, "an entry on the diagonal of a skew-symmetric matrix");
	entries_add(e, row, column, value);
	if (r->symmetric && row != column)
		entries_add(e, column, row, r->skew ? -value : value);
}

void market_read(struct entries *e, const char *file)
{
	struct reader r = {.name = file, .file = fopen(file, "r")};
	char text[128];
	if (!r.file) {
		snprintf(text, sizeof text, "cannot be opened: %s", strerror(errno));
		need(&r, false, text);
	}
	read_banner(&r);
	need(&r, next_data(&r), "the line of sizes is missing");
	char *p = r.line;
	e->n = (int)read_number(&r, &p, 1, MOST_ROWS, "rows");
	need(&r, read_number(&r, &p, 1, MOST_ROWS, "columns") == e->n, "the matrix is not square");
	long count = read_number(&r, &p, 1, MOST_ENTRIES, "entries");
	read_end(&r, p);
	for (long i = 0; i < count; i++) {
		snprintf(text, sizeof text, "the file ends after %ld of %ld entries", i, count);
		need(&r, next_data(&r), text);
		read_entry(&r, e);
	}
	need(&r, !next_data(&r), "more entries than the line of sizes says");
	free(r.line);
	fclose(r.file);
}
