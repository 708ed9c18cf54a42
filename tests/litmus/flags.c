// SPDX-License-Identifier: BSD-3-Clause
// Put and flag, fences, and the order of blocking operations, by the public functions of the C fast
// path.
#define ARMCI_GO_H // no Go here: all memory is within reach
struct front_call;
int armcigo_op(struct front_call *c);
int armcigo_check_flag(char *name, char *arg, int *flag, int proc);
int armcigo_wait_request(char *name, int request);
#include "../../capi/strided.c"

#include "cases.h"

struct front front;
_Thread_local struct front_hit front_hits[FRONT_HITS];
const struct fast_path *_Atomic fast_path;

// All memory of the cases can be accessed.
bool front_find(unsigned proc, const void *p, uint64_t n)
{
	(void)p, (void)n;
	return proc < 2;
}

static _Atomic int *flag(int i) { return (_Atomic int *)litmus_data(1024 + 64 * (size_t)i); }
static long *data(void) { return litmus_data(0); }
static int seen[2];
static struct traffic none[3];

static void open_front(void)
{
	front.ranks = 2;
	front.traffic = none;
	seen[0] = seen[1] = 0;
}

static void put_flag(int me)
{
	long mine = 42;
	if (me == 0)
		PARMCI_Put_flag(&mine, data(), sizeof mine, (int *)flag(0), 1, 1);
	else if (atomic_load_explicit(flag(0), memory_order_acquire) == 1)
		litmus_expect("the flag came before the data", *data() == 42);
}

// Each stores and fences, then reads what the other stores: not both may miss it.
static void fence(int me)
{
	atomic_store_explicit(flag(me), 1, memory_order_relaxed);
	litmus_expect("no fence", front_fence_here((unsigned)!me));
	seen[me] = atomic_load_explicit(flag(!me), memory_order_relaxed);
}
static void one_seen(void) { litmus_expect("both fences were overtaken", seen[0] || seen[1]); }

// Two blocking stores of a rank are seen in their order by two blocking loads.
static void order(int me)
{
	if (me == 0) {
		atomic_store_explicit(flag(0), 1, memory_order_relaxed);
		front_known(1, flag(1), 4);
		atomic_store_explicit(flag(1), 1, memory_order_relaxed);
	} else if (atomic_load_explicit(flag(1), memory_order_relaxed) == 1) {
		front_known(1, flag(0), 4);
		litmus_expect("stores out of order",
			atomic_load_explicit(flag(0), memory_order_relaxed) == 1);
	}
}

const struct litmus case_put_flag = {"put-flag", 2, open_front, put_flag, NULL, 3000};
const struct litmus case_fence = {"fence", 2, open_front, fence, one_seen, 3000};
const struct litmus case_order = {"order", 2, open_front, order, NULL, 3000};
