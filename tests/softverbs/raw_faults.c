// SPDX-License-Identifier: BSD-3-Clause
// What the software device does when it is told to: it vanishes, breaks, loses completions, has
// small limits.
#include "raw.h"

#include <errno.h>

static enum ibv_wc_status write_once(struct end *e)
{
	struct ibv_sge piece;
	struct ibv_send_wr w = raw_request(e, IBV_WR_RDMA_WRITE, &piece, 0, 0, 8);
	return raw_do(e, &w);
}

static void breaks(struct end *e)
{
	for (int i = 1; e->lead && i < 10; i++)
		WANT(write_once(e) == IBV_WC_SUCCESS);
	WANT(!e->lead || write_once(e) == IBV_WC_RETRY_EXC_ERR);
	WANT(!e->lead || write_once(e) == IBV_WC_WR_FLUSH_ERR);
	raw_meet(e);
}

static void never(struct end *e)
{
	struct ibv_sge piece;
	struct ibv_send_wr w = raw_request(e, IBV_WR_RDMA_WRITE, &piece, 0, 0, 8);
	for (uint64_t i = 1; e->lead && i <= 10; i++) {
		w.wr_id = i;
		raw_post(e, &w);
		WANT(i == 5 ? raw_quiet(e, 1000) : raw_next(e).wr_id == i);
	}
	raw_meet(e);
}

static enum ibv_event_type event(struct end *e)
{
	struct ibv_async_event event;
	WANT(ibv_get_async_event(e->device, &event) == 0);
	ibv_ack_async_event(&event);
	return event.event_type;
}

static void vanishes(struct end *e)
{
	struct ibv_sge piece;
	struct ibv_send_wr w = raw_request(e, IBV_WR_RDMA_WRITE, &piece, 0, 0, 8), *bad;
	for (int i = 1; e->lead && i < 10; i++)
		WANT(write_once(e) == IBV_WC_SUCCESS);
	raw_meet(e);
	if (e->lead) {
		WANT(write_once(e) != IBV_WC_SUCCESS);
		WANT(event(e) == IBV_EVENT_DEVICE_FATAL);
		WANT(ibv_post_send(e->pair, &w, &bad) == EIO && bad == &w);
		WANT(ibv_reg_mr(e->domain, e->memory, 4096, 0) == NULL);
	}
	raw_meet(e);
	WANT(e->lead || write_once(e) == IBV_WC_RETRY_EXC_ERR);
	raw_meet(e);
}

static void port_down(struct end *e)
{
	struct ibv_port_attr port;
	for (int i = 1; e->lead && i < 10; i++)
		WANT(write_once(e) == IBV_WC_SUCCESS);
	if (e->lead) {
		WANT(write_once(e) == IBV_WC_RETRY_EXC_ERR);
		WANT(event(e) == IBV_EVENT_PORT_ERR);
		WANT(ibv_query_port(e->device, 1, &port) == 0 && port.state == IBV_PORT_DOWN);
	}
	raw_meet(e);
}

static void few_regions(struct end *e)
{
	struct ibv_mr *more = ibv_reg_mr(e->domain, e->memory, 4096, 0);
	WANT(!e->lead == (more != NULL));
	if (more)
		WANT(ibv_dereg_mr(more) == 0);
}

static void full_queue(struct end *e)
{
	struct ibv_sge piece;
	struct ibv_send_wr w = raw_request(e, IBV_WR_RDMA_WRITE, &piece, 0, 0, 8), *bad;
	for (int i = 0; i < DEPTH; i++)
		raw_post(e, &w);
	// until completions have been taken
	WANT(ibv_post_send(e->pair, &w, &bad) == ENOMEM && bad == &w);
	WANT(raw_next(e).status == IBV_WC_SUCCESS);
	raw_post(e, &w);
	raw_meet(e);
}

static void on_demand(struct end *e)
{
	struct ibv_device_attr_ex a;
	WANT(ibv_query_device_ex(e->device, NULL, &a) == 0);
	WANT(e->lead == ((a.odp_caps.general_caps & IBV_ODP_SUPPORT) != 0));
	struct ibv_mr *r = ibv_reg_mr(e->domain, e->memory, 4096,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
	WANT(e->lead == (r != NULL));
	if (r)
		WANT(ibv_dereg_mr(r) == 0);
}

const struct test raw_faults[] = {
	{"breaks", breaks, .soft = true, .rnr_retry = 7, .setting = "SOFTVERBS_BREAK_AFTER",
		.value = "10"},
	{"never", never, .soft = true, .rnr_retry = 7, .setting = "SOFTVERBS_NEVER", .value = "5"},
	{"vanishes", vanishes, .soft = true, .rnr_retry = 7, .setting = "SOFTVERBS_VANISH_AFTER",
		.value = "10"},
	{"port down", port_down, .soft = true, .rnr_retry = 7,
		.setting = "SOFTVERBS_PORT_DOWN_AFTER", .value = "10"},
	{"few regions", few_regions, .soft = true, .rnr_retry = 7, .setting = "SOFTVERBS_MAX_MR",
		.value = "1"},
	{"full queue", full_queue, .soft = true, .rnr_retry = 7},
	{"on demand", on_demand, .soft = true, .rnr_retry = 7, .setting = "SOFTVERBS_ODP",
		.value = "1"},
	{0},
};
