// SPDX-License-Identifier: BSD-3-Clause
// Addresses, and datagrams: the sender does not learn whether they arrive. Before a received one
// lie the 40 bytes of a global route header, filled in if it came with one.
#include "softverbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct address {
	struct ibv_ah ah;
	struct path path;
};

bool path_leads_to(const struct path *path, const struct segment *s)
{
	if (!path->global)
		return path->lid == s->lid;
	for (int i = 0; i < s->addresses; i++)
		if (memcmp(&s->address[i], &path->gid, sizeof path->gid) == 0)
			return true;
	return false;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *a)
{
	struct address *h = refused("create_ah") ? NULL : calloc(1, sizeof *h);
	if (!h || a->port_num != 1 || a->grh.sgid_index >= ADDRESSES) {
		errno = h ? EINVAL : ENOMEM;
		free(h);
		return NULL;
	}
	h->ah = (struct ibv_ah){.context = pd->context, .pd = pd};
	h->path = (struct path){.lid = a->dlid, .global = a->is_global, .gid = a->grh.dgid};
	return &h->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	free(ah);
	return 0;
}

static void deliver(struct queue_pair *q, struct peer *p, struct pair *t, const struct path *path,
	const struct request *r, const struct iovec *mine, int n, size_t bytes)
{
	const struct segment *own = context_of(q->qp.context)->segment;
	struct ibv_grh head = {0};
	struct iovec all[MOST_SGE + 1] = {{&head, sizeof head}};
	struct received in;
	struct completion done = {.wc = {.status = IBV_WC_SUCCESS,
					  .opcode = IBV_WC_RECV,
					  .qp_num = t->number,
					  .src_qp = q->qp.qp_num,
					  .slid = own->lid,
					  .byte_len = (uint32_t)(sizeof head + bytes)}};
	if (path->global) {
		head.sgid = own->address[0];
		head.dgid = path->gid;
		done.wc.wc_flags |= IBV_WC_GRH;
	}
	if (r->opcode == IBV_WR_SEND_WITH_IMM) {
		done.wc.imm_data = r->immediate;
		done.wc.wc_flags |= IBV_WC_WITH_IMM;
	}
	memcpy(all + 1, mine, (size_t)n * sizeof *mine);
	int status = receive_take(p, t, sizeof head + bytes, &in);
	if (status == NO_RECEIVE)
		return; // lost
	if (status == IBV_WC_SUCCESS && transfer(p, true, all, n + 1, in.span, in.spans) != 0)
		status = IBV_WC_LOC_PROT_ERR;
	done.wc.wr_id = in.id;
	done.wc.status = (enum ibv_wc_status)status;
	complete(p, t->completions, &done, r->solicited);
}

int send_datagram(struct queue_pair *q, struct ibv_ah *ah, uint32_t number, uint32_t key,
	const struct request *r, const struct iovec *mine, int n, size_t bytes)
{
	const struct path *path = &((struct address *)ah)->path;
	struct peer *p = peer_find(context_of(q->qp.context), number);
	if (!p || !alive(p->segment) || !path_leads_to(path, p->segment) || p->segment->down ||
		context_of(q->qp.context)->segment->down)
		return IBV_WC_SUCCESS;
	struct pair *t = &p->segment->pair[number & (PAIRS - 1)];
	if (atomic_load(&t->state) == IBV_QPS_RESET)
		return IBV_WC_SUCCESS;
	shared_lock(&t->lock);
	int state = atomic_load(&t->state);
	if ((state == IBV_QPS_RTR || state == IBV_QPS_RTS) && t->datagrams && t->number == number &&
		t->key == key)
		deliver(q, p, t, path, r, mine, n, bytes);
	shared_unlock(&t->lock);
	return IBV_WC_SUCCESS;
}
