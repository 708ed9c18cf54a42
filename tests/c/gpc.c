// SPDX-License-Identifier: BSD-3-Clause
// gpc.c - global procedure calls: a registered function runs for a target with a header and data
// and its reply comes back; nonblocking too; the lock of a rank keeps its callers apart.
#include "check.h"
#include <gpc.h>

enum { CALLS = 200, DATA = 20000 };

struct request {
	long *counter; // in the target's collective memory
	int add, from;
};

struct reply {
	int to, from, dlen;
};

static int runs; // of the handler in this process

// Adds to the counter under the target's lock; the reply carries the data backwards.
static int add(int to, int from, void *hdr, int hlen, void *data, int dlen, void *rhdr, int rhlen,
	int *rhsize, void *rdata, int rdlen, int *rdsize, int rtype)
{
	struct request *q = hdr;
	struct reply *a = rhdr;
	CHECK_INT(hlen, sizeof *q);
	CHECK_INT(q->from, from);
	CHECK(rtype == GPC_INIT);
	long *counter = ARMCI_Gpc_translate(q->counter, to, from);
	CHECK(to == me && counter != NULL);
	ARMCI_Gpc_lock(to);
	*counter += q->add;
	runs++;
	ARMCI_Gpc_unlock(to);
	if (rhlen >= (int)sizeof *a) {
		*a = (struct reply){.to = to, .from = from, .dlen = dlen};
		*rhsize = sizeof *a;
	}
	int n = dlen < rdlen ? dlen : rdlen;
	for (int i = 0; i < n; i++)
		((char *)rdata)[i] = ((char *)data)[dlen - 1 - i];
	*rdsize = n;
	return GPC_DONE;
}

static char data[DATA], answer[DATA];

static void call(int h, void **base, int to, int n, gpc_hdl_t *nb)
{
	struct request q = {.counter = base[to], .add = n % 7 + 1, .from = me};
	struct reply a = {-1, -1, -1};
	check_fill(data, (size_t)n, (uint64_t)(n + to));
	memset(answer, 0, sizeof answer);
	if (nb)
		ARMCI_Gpc_init_handle(nb);
	CHECK_OK(ARMCI_Gpc_exec(h, to, &q, sizeof q, data, n, &a, sizeof a, answer, n + 1, nb));
	if (nb)
		ARMCI_Gpc_wait(nb);
	CHECK_INT(a.to, to);
	CHECK_INT(a.from, me);
	CHECK_INT(a.dlen, n);
	for (int i = 0; i < n; i++)
		CHECK_INT(answer[i], data[n - 1 - i]);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	CHECK(ARMCI_Get_gpc_hlen() > (int)sizeof(struct request));
	CHECK(ARMCI_Get_gpc_dlen() > 0);
	int most = ARMCI_Get_gpc_dlen() - 1 < DATA ? ARMCI_Get_gpc_dlen() - 1 : DATA;
	void **base = check_malloc(sizeof(long));
	*(long *)base[me] = 0;
	int h = ARMCI_Gpc_register((int (*)())add);
	CHECK(h < 0);
	ARMCI_Barrier();
	long sum = 0;
	gpc_hdl_t nb;
	for (int i = 0; i < CALLS; i++) {
		int n = i * 100 % most;
		call(h, base, (me + i) % np, n, i % 2 ? &nb : NULL);
		sum += n % 7 + 1;
	}
	for (int i = 0; i < 1000; i++) { // against the handlers of others in this process
		ARMCI_Gpc_lock(me);
		++*(long *)base[me];
		ARMCI_Gpc_unlock(me);
	}
	ARMCI_Barrier();
	CHECK_INT(ARMCI_Gpc_trylock(me), 1);
	CHECK_INT(ARMCI_Gpc_trylock(me), 0);
	ARMCI_Gpc_unlock(me);
	ARMCI_Barrier();
	long total = *(long *)base[me];
	armci_msg_lgop(&total, 1, "+");
	armci_msg_lgop(&sum, 1, "+");
	long all = runs;
	armci_msg_lgop(&all, 1, "+");
	CHECK_INT(all, (long)CALLS * np);
	CHECK_INT(total, sum + 1000L * np);
	ARMCI_Gpc_release(h);
	check_free(base);
	return check_end("gpc");
}
