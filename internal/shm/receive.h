// SPDX-License-Identifier: BSD-3-Clause
// receive.h - part of shm.h: waiters that receive from other nodes by themselves.
#ifndef ARMCI_SHM_RECEIVE_H
#define ARMCI_SHM_RECEIVE_H

// The state of a waiter that receives: transport.Visit.
struct shm_visit {
	int32_t stage; // transport.VisitStage
	// SHM_POLLING: the descriptor that has input if there is something to receive
	int32_t ready;
};
enum { SHM_POLLING = 2 };

// shm_poll_receiving is shm_poll whose visit stays open: the caller ends it with shm_end_visit, and
// may sleep before by shm_sleep_on.
bool shm_poll_receiving(struct wait *w, struct shm_visit *v, shm_cond cond, void *arg, int peer);
void shm_end_visit(struct shm_visit *v, bool found);
// shm_receive_until receives from other nodes until cond is true; false: it is time to sleep.
bool shm_receive_until(struct wait *w, struct shm_visit *v, shm_cond cond, void *arg, int peer);
// shm_poll_memory polls cond without receiving, for as long as a waiter does before it receives.
// False: cond is not met.
bool shm_poll_memory(shm_cond cond, void *arg);
// shm_sleep_on sleeps while *word is `seen`, for so many milliseconds at most. If the visit allows
// it, it sleeps where input from other nodes wakes it, and then receives. The caller has called
// shm_poll_receiving. A thread that changes the word wakes its sleepers and calls
// shm_wake_receiver.
void shm_sleep_on(struct shm_visit *v, int peer, shm_u32 *word, uint32_t seen, unsigned millis);
void shm_wake_receiver(void);

#endif
