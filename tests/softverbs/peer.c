// SPDX-License-Identifier: BSD-3-Clause
// The segments that an open device has mapped, its own among them, found by the number of a queue
// pair. They stay until it is closed, since queue pairs refer to them. Events of their channels go
// through /proc.
#define _GNU_SOURCE
#include "softverbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct peer *attach(uint32_t number)
{
	struct peer *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->segment = segment_open(number, &p->inode);
	if (!p->segment) {
		free(p);
		return NULL;
	}
	p->own = p->segment->pid == getpid();
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

struct peer *peer_find(struct context *c, uint32_t number)
{
	uint32_t i = number >> INDEX_BITS;
	struct peer *p = i < SEGMENTS ? atomic_load_explicit(&c->peer[i], memory_order_acquire) :
					NULL;
	if (i >= SEGMENTS || (p && alive(p->segment)))
		return p;
	pthread_mutex_lock(&c->finding);
	p = atomic_load(&c->peer[i]);
	if (!p || (!alive(p->segment) && segment_inode(i) != p->inode)) {
		struct peer *other = attach(i);
		if (other) {
			other->former = p;
			atomic_store(&c->peer[i], other);
			p = other;
		}
	}
	pthread_mutex_unlock(&c->finding);
	return p;
}

static void detach(struct peer *p)
{
	for (int i = 0; i < CHANNELS; i++)
		if (p->channel[i] > 0)
			close(p->channel[i]);
	mappings_free(p);
	segment_unmap(p->segment);
	free(p);
}

void peers_close(struct context *c)
{
	for (int i = 0; i < SEGMENTS; i++)
		for (struct peer *p = c->peer[i], *next; p; p = next) {
			next = p->former;
			detach(p);
		}
}

// The pipe of a channel, opened for reading too: so a writer gets no SIGPIPE if its owner has died.
static int open_channel(struct peer *p, int i, const struct pipe_end *to)
{
	char name[64];
	struct stat st;
	snprintf(name, sizeof name, "/proc/%d/fd/%d", p->segment->pid, atomic_load(&to->fd));
	int fd = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode) || st.st_ino != to->inode)) {
		close(fd);
		return -1;
	}
	if (p->channel[i] > 0)
		close(p->channel[i]);
	p->channel[i] = fd;
	p->channel_inode[i] = to->inode;
	return fd;
}

static void tell(int fd, const struct event *e)
{
	if (fd > 0)
		while (write(fd, e, sizeof *e) < 0 && errno == EINTR) continue;
}

void peer_ring(struct peer *p, const struct completions *c, uint32_t queue)
{
	int i = c->channel;
	struct event e = {queue, c->serial};
	if (i < 0 || i >= CHANNELS)
		return;
	const struct pipe_end *to = &p->segment->channel[i];
	if (p->own) {
		tell(atomic_load(&to->fd), &e);
		return;
	}
	pthread_mutex_lock(&p->lock);
	int fd = p->channel[i];
	if (atomic_load(&to->fd) > 0 && (fd <= 0 || p->channel_inode[i] != to->inode))
		fd = open_channel(p, i, to);
	tell(fd, &e);
	pthread_mutex_unlock(&p->lock);
}
