// SPDX-License-Identifier: BSD-3-Clause
// The file of ARMCI_TRACE: Chrome's trace format, an array of events, one on a line. The file is
// written through a mapping of its last piece, filled with spaces beforehand: so nothing is lost
// when the process is killed, and what is there is an array without its end, which Perfetto and
// chrome://tracing open. It stops at a limit, and where the disk is full.
#define _GNU_SOURCE
#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PIECE   ((uint64_t)1 << 20)
#define LONGEST 512u             // bytes of an event
#define LAST    4u               // bytes of the end, for which there is always room in the piece
// of the limit, for the ends of events whose beginnings are there
#define RESERVE ((uint64_t)1 << 16)

static struct {
	pthread_mutex_t lock;
	char *piece;         // PIECE bytes of the file, from `base` on; NULL: no file is open
	uint64_t base, used; // used: bytes in the piece
	uint64_t limit, left_out;
	int64_t zero;
	int fd, rank, error;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

// Maps the piece at `base`; posix_fallocate says beforehand whether the disk has room, or a store
// would raise SIGBUS.
static char *piece_at(uint64_t base)
{
	int e = posix_fallocate(trace.fd, (off_t)base, (off_t)PIECE);
	void *p = e ? MAP_FAILED :
		      mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, trace.fd, (off_t)base);
	if (p == MAP_FAILED) {
		trace.error = e ? e : errno;
		return NULL;
	}
	return memset(p, ' ', PIECE);
}

// Appends text as a whole, or not at all: then the trace ends here, with room for the closing
// bracket in the piece.
static bool append(const char *text, uint64_t n)
{
	uint64_t room = PIECE - trace.used;
	if (n + LAST <= room) {
		memcpy(trace.piece + trace.used, text, n);
		trace.used += n;
		return true;
	}
	char *next = trace.error ? NULL : piece_at(trace.base + PIECE);
	if (!next)
		return false;
	uint64_t part = n < room ? n : room;
	memcpy(trace.piece + trace.used, text, part);
	memset(trace.piece + trace.used + part, ' ', room - part);
	memcpy(next, text + part, n - part);
	munmap(trace.piece, PIECE);
	trace.piece = next;
	trace.base += PIECE;
	trace.used = n - part;
	return true;
}

static char *decimal(char *at, uint64_t v)
{
	char digits[20];
	int n = 0;
	do {
		digits[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	while (n > 0) *at++ = digits[--n];
	return at;
}

static char *word(char *at, const char *text) { return stpcpy(at, text); }

// The time in microseconds since `zero`, with three decimals.
static char *stamp(char *at, uint64_t ns)
{
	int64_t t = (int64_t)ns - trace.zero;
	uint64_t v = t < 0 ? (uint64_t)-t : (uint64_t)t;
	if (t < 0)
		*at++ = '-';
	at = decimal(at, v / 1000);
	*at++ = '.';
	*at++ = (char)('0' + v / 100 % 10);
	*at++ = (char)('0' + v / 10 % 10);
	*at++ = (char)('0' + v % 10);
	return at;
}

static char *arguments(char *at, int proc, uint64_t bytes)
{
	at = word(at, ",\"args\":{");
	if (proc >= 0) {
		at = word(at, "\"peer\":");
		at = decimal(at, (uint64_t)proc);
		*at++ = ',';
	}
	at = word(at, "\"bytes\":");
	return word(decimal(at, bytes), "}");
}

static uint64_t thread_id(void)
{
	static _Thread_local uint64_t id;
	return id ? id : (id = (uint64_t)syscall(SYS_gettid));
}

bool trace_event(char phase, const char *name, uint64_t ns, int proc, uint64_t bytes)
{
	char text[LONGEST], *at = word(text, ",\n{\"ph\":\"");
	*at++ = phase;
	at = word(at, "\",\"pid\":");
	at = decimal(at, (uint64_t)trace.rank);
	at = word(at, ",\"tid\":");
	at = decimal(at, thread_id());
	at = word(at, ",\"ts\":");
	at = stamp(at, ns);
	at = word(at, ",\"name\":\"");
	at = word(word(at, name), "\"");
	// of ends, too: some readers find the beginning by name and arguments
	at = arguments(at, proc, bytes);
	*at++ = '}';
	pthread_mutex_lock(&trace.lock);
	bool room = trace.piece && !trace.error &&
		(phase == 'E' || trace.base + trace.used + RESERVE < trace.limit);
	bool done = room && append(text, (uint64_t)(at - text));
	trace.left_out += !done && phase == 'B';
	pthread_mutex_unlock(&trace.lock);
	return done;
}

int trace_open(int fd, int rank, const char *host, int64_t zero, uint64_t limit)
{
	char text[2 * LONGEST]; // a node's name has at most 100 bytes, each of up to 6 characters
	trace.fd = fd;
	trace.rank = rank;
	trace.zero = zero;
	trace.limit = limit;
	trace.left_out = 0;
	trace.base = trace.used = 0;
	trace.error = 0;
	trace.piece = piece_at(0);
	if (!trace.piece) {
		close(trace.fd);
		return trace.error;
	}
	int n = snprintf(text, sizeof text,
		"[\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"rank "
		"%d, %s\"}},\n"
		"{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":"
		"%d}}",
		rank, rank, host, rank, rank);
	append(text, (uint64_t)n);
	return 0;
}

uint64_t trace_close(void)
{
	pthread_mutex_lock(&trace.lock);
	uint64_t left_out = trace.left_out;
	if (trace.piece) {
		memcpy(trace.piece + trace.used, "\n]\n", 3);
		trace.used += 3;
		if (ftruncate(trace.fd, (off_t)(trace.base + trace.used)) && !trace.error)
			trace.error = errno;
		munmap(trace.piece, PIECE);
		trace.piece = NULL;
		close(trace.fd);
	}
	pthread_mutex_unlock(&trace.lock);
	return left_out;
}

int trace_error(void) { return trace.error; }
