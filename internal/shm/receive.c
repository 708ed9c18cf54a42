// SPDX-License-Identifier: BSD-3-Clause
// Waits for ranks of other nodes. The waiter receives by itself (transport.Incoming): it polls the
// descriptors of the data server and sleeps there. So input wakes the waiter directly, and not the
// server's thread first. The waiter enters Go only if there may be something to receive.
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "shm.h"

static shm_u32 receiver_asleep; // 1: a thread of this process sleeps in shm.sleep_in

// receive_frames receives frames of other nodes, and returns their number.
static int receive_frames(struct shm_visit *v)
{
	struct epoll_event e;
	if (v->stage == SHM_POLLING && v->ready >= 0 && epoll_wait(v->ready, &e, 1, 0) == 0)
		return 0;
	return shm.receive(v);
}

bool shm_receive_until(struct wait *w, struct shm_visit *v, shm_cond cond, void *arg, int peer)
{
	uint64_t after = peer == SHM_SENDER ? 0 : shm.receive_after;
	bool met;
	wait_begin(w, WAIT_FARAWAY, wait_clock());
	while (!(met = cond(arg))) {
		bool early = w->now - w->begin < after;
		if (!early && receive_frames(v) > 0)
			continue;
		// A waiter receives once before it sleeps: without a visit, input wakes the server.
		if (!wait_pause(&shm.remote_policy, w, 1) && (!early || receive_frames(v) == 0))
			break;
	}
	if (met)
		wait_done(&shm.remote_policy, w);
	return met;
}

bool shm_poll_memory(shm_cond cond, void *arg)
{
	bool met = shm.receive_after == 0 ? cond(arg) : wait_quick(&shm.remote_policy, cond, arg);
	if (met || shm.receive_after == 0)
		return met;
	uint64_t end = wait_clock() + shm.receive_after;
	while (!(met = wait_quick(&shm.remote_policy, cond, arg)) && wait_clock() < end) continue;
	return met;
}

// may_sleep_in_epoll reports whether the thread may sleep in shm.sleep_in. Other processes of the
// node cannot wake it there, so none of them may end the wait.
static bool may_sleep_in_epoll(const struct shm_visit *v, int peer)
{
	return v->stage == SHM_POLLING && v->ready >= 0 && shm.sleep_in >= 0 &&
		(peer == SHM_REMOTE || peer == SHM_SENDER || shm.nlocal == 1);
}

enum { FOLLOWS = 20000 }; // ns within which the data server, too, expects the next frame

// receive_burst receives while *word is `seen` and frames follow each other within FOLLOWS. A
// waiter that slept after each frame would delay the next one by a wake-up.
static void receive_burst(struct shm_visit *v, shm_u32 *word, uint32_t seen)
{
	struct wait w;
	wait_begin(&w, WAIT_FARAWAY, wait_clock());
	while (atomic_load(word) == seen && w.now - w.begin < FOLLOWS) {
		if (receive_frames(v) > 0)
			wait_begin(&w, WAIT_FARAWAY, wait_clock());
		else if (!wait_pause(&shm.remote_policy, &w, 1))
			break;
	}
}

// The thread that changes the word reads receiver_asleep after that; this thread sets
// receiver_asleep and then reads the word: at least one sees both.
void shm_sleep_on(struct shm_visit *v, int peer, shm_u32 *word, uint32_t seen, unsigned millis)
{
	if (!may_sleep_in_epoll(v, peer)) {
		shm_end_visit(v, false);
		wait_sleep(word, seen, millis);
		return;
	}
	atomic_store(&receiver_asleep, 1);
	if (atomic_load(word) == seen)
		wait_sleep_in(shm.sleep_in, millis);
	atomic_store(&receiver_asleep, 0);
	shm.receive(v); // without a poll of v->ready, which may have been closed
	receive_burst(v, word, seen);
}

void shm_wake_receiver(void)
{
	if (atomic_load(&receiver_asleep))
		eventfd_write(shm.wake_fd, 1);
}

void shm_end_visit(struct shm_visit *v, bool found)
{
	if (v->stage != 0)
		shm.leave(v, found);
}
