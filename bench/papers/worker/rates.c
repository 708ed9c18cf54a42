// SPDX-License-Identifier: BSD-3-Clause
// Rates of registering, copying and reading memory, as loops.
#ifdef PERF_VERBS
#include "rates.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dial.h"

enum { PAGE = 4096 };

size_t rates_space(void) { return (size_t)perf_pace(16 << 20, 64 << 20); }

size_t rates_place(size_t bytes, size_t *next)
{
	size_t step = (bytes + PAGE - 1) / PAGE * PAGE + PAGE, at = *next;
	*next = at + step + bytes > rates_space() ? 0 : at + step;
	return at;
}

void rates_open(struct rates *r, bool connect)
{
	*r = (struct rates){.connected = connect && papers_takes_part()};
	if (r->connected)
		link_open(&r->link, perf_me == 0 ? perf_dial(perf_peer) : perf_answer(0),
			rates_space());
	else if (perf_me == 0)
		link_device(&r->link);
	if (perf_me == 0) {
		r->from = perf_private(rates_space());
		r->to = perf_private(rates_space());
	}
}

void rates_close(struct rates *r)
{
	if (r->connected) {
		link_close(&r->link);
	} else if (perf_me == 0) {
		ibv_dealloc_pd(r->link.domain);
		ibv_close_device(r->link.device);
	}
	free(r->from);
	free(r->to);
}

static struct ibv_mr *begin_use(struct rates *r)
{
	char *at = r->from + rates_place(r->bytes, &r->next);
	struct ibv_mr *m = ibv_reg_mr(r->link.domain, at, r->bytes, IBV_ACCESS_LOCAL_WRITE);
	perf_need(m != NULL, "registration");
	return m;
}

static void end_use(struct ibv_mr *m) { perf_need(ibv_dereg_mr(m) == 0, "end of a registration"); }

PERF_COUNTED(register_each, ((struct rates *)arg)->clock, struct ibv_mr *m, m = begin_use(arg),
	end_use(m))
void rates_register(void *arg, long n) { register_each(arg, n); }

double rates_deregister(struct rates *r, double seconds)
{
	double spent = 0, tick = papers_tick(), start = timing_now();
	long n = 0;
	for (; timing_now() - start < seconds; n++) {
		struct ibv_mr *m = begin_use(r);
		double begin = timing_now();
		end_use(m);
		spent += timing_now() - begin - tick;
	}
	return spent > 0 ? spent / (double)n : 1e-9;
}

void rates_both(void *arg, long n)
{
	struct rates *r = arg;
	for (long i = 0; i < n; i++) end_use(begin_use(r));
}

void rates_lock(void *arg, long n)
{
	struct rates *r = arg;
	for (long i = 0; i < n; i++) {
		char *p = r->from + rates_place(r->bytes, &r->next);
		perf_need(mlock(p, r->bytes) == 0 && munlock(p, r->bytes) == 0, "mlock");
	}
}

void rates_copy(void *arg, long n)
{
	struct rates *r = arg;
	for (long i = 0; i < n; i++) {
		size_t at = rates_place(r->bytes, &r->next);
		memcpy(r->to + at, r->from + at, r->bytes);
		bench_opaque(r->to + at);
	}
}

void rates_read(void *arg, long n)
{
	struct rates *r = arg;
	for (long i = 0; i < n; i++) {
		struct ibv_sge list;
		size_t at = rates_place(r->bytes, &r->next);
		struct ibv_send_wr request = link_request(&r->link, IBV_WR_RDMA_READ, &list, at, at,
			r->bytes);
		link_do(&r->link, &request);
	}
}
#endif
