// SPDX-License-Identifier: BSD-3-Clause
// Completion channels and asynchronous events: pipes, so that they can be polled, waited at, and
// written to by others.
#define _GNU_SOURCE
#include "softverbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct context *c = context_of(context);
	struct channel *ch = refused("create_comp_channel") ? NULL : calloc(1, sizeof *ch);
	struct stat st;
	int fds[2];
	if (!ch || pipe2(fds, O_CLOEXEC) != 0) {
		free(ch);
		return NULL;
	}
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	fstat(fds[1], &st);
	pthread_mutex_lock(&c->table);
	int i = 0;
	while (i < CHANNELS && c->segment->channel[i].fd)
		i++;
	if (i < CHANNELS) {
		c->segment->channel[i].inode = st.st_ino;
		atomic_store(&c->segment->channel[i].fd, fds[1]);
	}
	pthread_mutex_unlock(&c->table);
	if (i == CHANNELS) {
		close(fds[0]);
		close(fds[1]);
		free(ch);
		errno = ENOMEM;
		return NULL;
	}
	ch->channel = (struct ibv_comp_channel){.context = context, .fd = fds[0]};
	ch->index = i;
	ch->write = fds[1];
	return &ch->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct channel *ch = (struct channel *)channel;
	if (channel->refcnt)
		return EBUSY;
	atomic_store(&context_of(channel->context)->segment->channel[ch->index].fd, 0);
	close(channel->fd);
	close(ch->write);
	free(ch);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **user)
{
	struct context *c = context_of(channel->context);
	struct event e;
	for (;;) {
		if (read(channel->fd, &e, sizeof e) != sizeof e)
			return -1;
		pthread_mutex_lock(&c->table);
		struct queue *q = e.queue < QUEUES ? c->queue[e.queue] : NULL;
		if (q && q->shared->serial != e.serial)
			q = NULL; // of one that is no more
		if (q)
			q->events++;
		pthread_mutex_unlock(&c->table);
		if (!q)
			continue;
		*cq = &q->cq;
		*user = q->cq.cq_context;
		return 0;
	}
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned n) { ((struct queue *)cq)->taken += n; }

void async_event(struct context *c, enum ibv_event_type type, void *element)
{
	struct ibv_async_event e = {.event_type = type};
	if (element)
		e.element.qp = element;
	else
		e.element.port_num = 1;
	while (write(c->events, &e, sizeof e) < 0 && errno == EINTR) continue;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	return read(context->async_fd, event, sizeof *event) == sizeof *event ? 0 : -1;
}

void ibv_ack_async_event(struct ibv_async_event *event) { (void)event; }
