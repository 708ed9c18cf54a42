// SPDX-License-Identifier: BSD-3-Clause
// Segments as files: made without a name and named when they are ready, removed by their owner or,
// if that has died, by the process that makes the next one. The directory is locked meanwhile, and
// goes with the last file.
#define _GNU_SOURCE
#include "segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAGIC = 0x53564233 };
#define SEGMENT_BYTES (sizeof(struct segment) + RINGS_BYTES)

void shared_mutex(pthread_mutex_t *m)
{
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(m, &a);
	pthread_mutexattr_destroy(&a);
}

void shared_lock(pthread_mutex_t *m)
{
	// what it protects is changed by single stores, last
	if (pthread_mutex_lock(m) == EOWNERDEAD)
		pthread_mutex_consistent(m);
}

static void directory_name(char name[PATH_MAX])
{
	const char *set = getenv("SOFTVERBS_DIR");
	if (set && *set)
		snprintf(name, PATH_MAX, "%s", set);
	else
		snprintf(name, PATH_MAX, "/dev/shm/softverbs.%u", (unsigned)geteuid());
}

// The directory, locked, and made if it is not there and `make` is set; -1: not.
static int directory(bool make)
{
	char name[PATH_MAX];
	struct stat by_name, by_fd;
	directory_name(name);
	for (;;) {
		if (make && mkdir(name, 0700) != 0 && errno != EEXIST)
			return -1;
		int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 && make && errno == ENOENT)
			continue; // removed meanwhile
		if (fd < 0)
			return -1;
		flock(fd, LOCK_EX);
		if (stat(name, &by_name) == 0 && fstat(fd, &by_fd) == 0 &&
			by_name.st_ino == by_fd.st_ino)
			return fd;
		close(fd); // removed meanwhile
		if (!make)
			return -1;
	}
}

static void file_name(char name[16], uint32_t number) { snprintf(name, 16, "%03x", number); }

static struct segment *map(int fd)
{
	void *s = mmap(NULL, SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s == MAP_FAILED)
		return NULL;
	madvise(s, SEGMENT_BYTES, MADV_DONTFORK); // a child process has no part in it
	return s;
}

void segment_unmap(struct segment *s)
{
	if (s)
		munmap(s, SEGMENT_BYTES);
}

struct segment *segment_new(void)
{
	struct segment *s = mmap(NULL, SEGMENT_BYTES, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int at = directory(true), fd = -1;
	if (s == MAP_FAILED || at < 0)
		goto out;
	fd = openat(at, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, SEGMENT_BYTES) != 0 ||
		mmap(s, SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
			MAP_FAILED)
		goto out;
	madvise(s, SEGMENT_BYTES, MADV_DONTFORK);
	s->magic = MAGIC;
	s->pid = getpid();
	s->number = (uint32_t)fd; // until it has one
	shared_mutex(&s->life);
	shared_mutex(&s->atomics);
	close(at);
	return s;
out:
	if (s != MAP_FAILED)
		munmap(s, SEGMENT_BYTES);
	if (fd >= 0)
		close(fd);
	if (at >= 0)
		close(at);
	return NULL;
}

static bool stale(int at, const char *name)
{
	int fd = openat(at, name, O_RDWR | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0 || st.st_size != (off_t)SEGMENT_BYTES) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	struct segment *s = map(fd);
	close(fd);
	bool dead = s && s->magic == MAGIC &&
		(!(alive(s) || s->vanished) || (kill(s->pid, 0) != 0 && errno == ESRCH));
	segment_unmap(s);
	return dead;
}

static void sweep(int at)
{
	DIR *d = fdopendir(dup(at));
	if (!d)
		return;
	rewinddir(d);
	for (struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.' && stale(at, e->d_name))
			unlinkat(at, e->d_name, 0);
	closedir(d);
}

int segment_publish(struct segment *s)
{
	int fd = (int)s->number, at = directory(true);
	char own[64], name[16];
	uint32_t first = (uint32_t)getpid() * 37u;
	int err = ENOSPC;
	if (at < 0)
		return errno;
	sweep(at);
	snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
	for (uint32_t i = 0; i < SEGMENTS - 1 && err; i++) {
		s->number = (first + i) % (SEGMENTS - 1) + 1;
		file_name(name, s->number);
		err = linkat(AT_FDCWD, own, at, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
		if (err && err != EEXIST)
			break;
	}
	close(fd);
	close(at);
	return err;
}

void segment_remove(struct segment *s)
{
	char name[PATH_MAX];
	int at = directory(false);
	if (at < 0)
		return;
	file_name(name, s->number);
	unlinkat(at, name, 0);
	directory_name(name);
	rmdir(name); // if it is empty
	close(at);
}

static int find(uint32_t number, struct stat *st)
{
	char name[PATH_MAX], file[16];
	directory_name(name);
	file_name(file, number);
	strncat(name, "/", PATH_MAX - strlen(name) - 1);
	strncat(name, file, PATH_MAX - strlen(name) - 1);
	int fd = open(name, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, st) != 0 || st->st_size != (off_t)SEGMENT_BYTES)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

uint64_t segment_inode(uint32_t number)
{
	struct stat st;
	int fd = find(number, &st);
	if (fd < 0)
		return 0;
	close(fd);
	return st.st_ino;
}

struct segment *segment_open(uint32_t number, uint64_t *inode)
{
	struct stat st;
	int fd = find(number, &st);
	if (fd < 0)
		return NULL;
	struct segment *s = map(fd);
	close(fd);
	*inode = st.st_ino;
	return s;
}

void segment_ring(struct segment *s)
{
	atomic_fetch_add(&s->bell, 1);
	syscall(SYS_futex, &s->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}
