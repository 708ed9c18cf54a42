// SPDX-License-Identifier: BSD-3-Clause
// Gives C the Go functions that it calls: those that end the job, because a rank has left or there
// is no memory, and those by which waiters receive from other nodes.
#include <stdlib.h>

#include "_cgo_export.h"
#include "shm.h"

static void stuck(const char *what, int peer) { armcigo_stuck((char *)what, peer); }

static void no_memory(const char *what)
{
	armcigo_no_memory((char *)what);
	abort();
}

void shm_install_stuck(void)
{
	shm.stuck = stuck;
	shm.no_memory = no_memory;
}

void shm_install_receive(uint64_t after, int sleep_in, int wake_fd)
{
	shm.receive_after = after;
	shm.sleep_in = sleep_in;
	shm.wake_fd = wake_fd;
	shm.leave = armcigo_leave_incoming;
	shm.receive = armcigo_poll_incoming;
}
