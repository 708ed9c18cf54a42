// SPDX-License-Identifier: BSD-3-Clause
// receive.h - part of shm.h: waiters that receive what comes from other nodes.
#ifndef ARMCI_SHM_RECEIVE_H
#define ARMCI_SHM_RECEIVE_H

// How far a waiter has come with receiving: transport.Visit.
struct shm_visit {
	int32_t stage; // transport.VisitStage
	int32_t ready; // SHM_POLLING: without input at this descriptor, receive would find nothing
};
enum { SHM_POLLING = 2 };

// shm_look that goes on receiving if it returns false, and in any case until shm_leave.
bool shm_look_first(struct wait *w, struct shm_visit *v, shm_cond cond, void *arg, int peer);
void shm_leave(struct shm_visit *v, bool found);
// Receives what comes from other nodes until cond is true; false if that takes long.
bool shm_receive_until(struct wait *w, struct shm_visit *v, shm_cond cond, void *arg, int peer);
// Looks at memory only, for as long as a waiter does before it receives. False: not met.
bool shm_look_at_memory(shm_cond cond, void *arg);
// Sleeps while *word is `seen`, behind shm_look_first, for so many milliseconds at most: where what
// comes from other nodes wakes it, if it may, and then receives. A thread that changes the word
// then wakes its sleepers and calls shm_wake_receiver.
void shm_sleep(struct shm_visit *v, int peer, shm_u32 *word, uint32_t seen, unsigned millis);
void shm_wake_receiver(void);

#endif
