// SPDX-License-Identifier: BSD-3-Clause
// Gives waiters of C the Go functions that they call: the one that ends the job because a rank has
// left, and those that receive from other nodes.
#include "_cgo_export.h"
#include "shm.h"

static void stuck(const char *what, int peer) { armcigo_stuck((char *)what, peer); }

void shm_install_stuck(void) { shm.stuck = stuck; }

void shm_install_receive(uint64_t after, int sleep_in, int wake_fd)
{
	shm.receive_after = after;
	shm.sleep_in = sleep_in;
	shm.wake_fd = wake_fd;
	shm.leave = armcigo_leave_incoming;
	shm.receive = armcigo_poll_incoming;
}
