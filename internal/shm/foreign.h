// SPDX-License-Identifier: BSD-3-Clause
// foreign.h - part of shm.h: private memory of other processes of the node, which the kernel
// copies, or a thread of its owner.
#ifndef ARMCI_SHM_FOREIGN_H
#define ARMCI_SHM_FOREIGN_H

#include "../kernel/segment.h"

#define SHM_REQUEST_RUNS  256u
#define SHM_REQUEST_BYTES (64u << 10)
// A request slot: other ranks ask the owner's thread to copy between its private memory and here,
// if the kernel does not let them copy (request.c).
struct shm_request_slot {
	struct shm_mutex lock;      // held by the requester from request to answer
	// number of the last request; the owner's thread sleeps on it
	SHM_ALIGNED shm_u32 request_seq;
	shm_u32 owner_asleep;       // 1: the owner's thread sleeps on request_seq
	shm_u32 thread_runs;        // 1: the owner's thread runs
	// number of the last request that was carried out; the requester sleeps on it
	SHM_ALIGNED shm_u32 reply_seq;
	shm_u32 requester_asleep;   // 1: the requester sleeps on reply_seq
	int32_t error;              // of the last request: an errno, or 0
	uint32_t write, runs;
	// memory of the owner; data has the bytes of all runs, packed
	struct k_segment run[SHM_REQUEST_RUNS];
	SHM_ALIGNED uint8_t data[SHM_REQUEST_BYTES];
};
static inline struct shm_request_slot *shm_request_slot(int local)
{
	return (struct shm_request_slot *)(shm.base + shm.head->request_off) + local;
}
// shm_expose_open allows other ranks to access this process, and starts the thread that serves its
// requests. Called before the first exposure. 0, or the errno for which there is no thread.
int shm_expose_open(uint64_t witness);
void shm_request_thread_stop(void); // ends that thread
// shm_vm_allowed reports whether the kernel lets this process access memory of a local rank, which
// has exposed some.
bool shm_vm_allowed(int local);
// Each copies n runs between memory of this process and of a local rank: by the kernel, by the
// rank's thread. 0 or an errno: EFAULT is a wrong address.
int shm_vm_move(int local, const struct k_run *r, size_t n, bool write);
int shm_request_move(int local, const struct k_run *r, size_t n, bool write);
static inline int shm_foreign_move(int local, bool via_owner, const struct k_run *r, size_t n,
	bool write)
{
	return (via_owner ? shm_request_move : shm_vm_move)(local, r, n, write);
}
struct k_stripes;
// shm_foreign_acc adds scale times the elements of the side `mine` to those of `theirs`, under the
// accumulate locks. 0 or an errno.
int shm_foreign_acc(int local, bool via_owner, const struct k_stripes *st, int type,
	const void *scale, const struct k_run *r, size_t n);
// An update (kernel/update.h) of elements of a local rank. via_owner: its thread copies the memory.
struct shm_update {
	int local;
	bool via_owner;
	const struct k_stripes *st;
	int op, type;
};
// shm_foreign_update is k_update_runs in memory of another rank; src and old are packed. 0 or an
// errno.
int shm_foreign_update(const struct shm_update *u, const struct k_segment *r, size_t n,
	const void *src, void *old);

#endif
