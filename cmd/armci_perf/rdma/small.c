// SPDX-License-Identifier: BSD-3-Clause
// Eight bytes over RDMA beside raw requests that wait in the same way, by looking or asleep in the completion channel;
// messages: accumulates beside raw writes of as many bytes, a lock beside a raw atomic.
#include "rdma.h"

static double one = 1;

static void accumulate(struct remote *r)
{
	ARMCI_Acc(ARMCI_ACC_DBL, &one, r->mine, r->theirs, r->count[0], perf_peer);
}

static void lock_unlock(struct remote *r)
{
	(void)r;
	ARMCI_Lock(0, perf_peer);
	ARMCI_Unlock(0, perf_peer);
}

static void measure(struct rdma *d, const char *op, enum ibv_wr_opcode opcode, int bytes, void (*one_of)(struct remote *r),
	perf_body ours)
{
	struct perf_case c = {.op = op, .shape = "-", .bytes = bytes, .unit = PERF_NS};
	perf_pace(&c.warm, 0, 0.05); // as in contest.c
	d->r.count[0] = bytes;
	rdma_request(d, opcode, (size_t)bytes);
	remote_measure(&d->r, c, one_of, ours, rdma_raw);
}

static const char *const waking[] = {"rdma-put+fence", "rdma-get", "rdma-fetch-add", "rdma-acc+fence", "rdma-lock+unlock"};
static const char *const asleep[] = {"rdma-put+fence-asleep", "rdma-get-asleep", "rdma-fetch-add-asleep",
	"rdma-acc+fence-asleep", "rdma-lock+unlock-asleep"};

enum { MOST = 1 << 20 };

static void small(const char *const op[5], bool sleeping)
{
	static struct rdma d;
	void **all = perf_malloc(MOST);
	rdma_begin(&d, all, MOST);
	d.link.asleep = sleeping;
	ARMCI_Create_mutexes(1);
	measure(&d, op[0], IBV_WR_RDMA_WRITE, 8, remote_put, remote_fenced);
	measure(&d, op[1], IBV_WR_RDMA_READ, 8, remote_get, remote_ours);
	measure(&d, op[2], IBV_WR_ATOMIC_FETCH_AND_ADD, 8, remote_fetch_add, remote_ours);
	for (int bytes = 8; bytes <= MOST; bytes *= sleeping ? MOST : 128)
		measure(&d, op[3], IBV_WR_RDMA_WRITE, bytes, accumulate, remote_fenced);
	measure(&d, op[4], IBV_WR_ATOMIC_FETCH_AND_ADD, 8, lock_unlock, remote_ours);
	ARMCI_Destroy_mutexes();
	rdma_finish(&d, all);
}

void perf_rdma_small(void) { small(waking, false); }
void perf_rdma_asleep(void) { small(asleep, true); }
