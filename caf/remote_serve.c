/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses by a procedure call: the side of the image that is accessed. It runs in a thread of
 * libarmci, beside the program, and calls nothing of ARMCI; nor do the program's functions that it
 * calls. Memory that it stages for large calls belongs to the call: the call that is made with the
 * data, or the fetch of the last piece, frees it.
 */
#include <gpc.h>
#include <stdlib.h>
#include <string.h>

#include "remote.h"

/* The parts of a question's data. */
struct parts {
	struct caf_desc desc;
	void *add;
	/* of the value; of an array that is wanted, null base: the getter allocates it */
	struct caf_desc shape;
	char *value;
};

static void split(struct parts *p, const struct caf_question *q, char *data)
{
	memset(p, 0, sizeof *p);
	memcpy(&p->desc, data, q->desc);
	data += caf_part(q->desc);
	p->add = q->add ? data : NULL;
	data += caf_part(q->add);
	memcpy(&p->shape, data, q->shape);
	p->value = data + caf_part(q->shape);
}

/* Gives the data back at once, if they fit, or stages them. `own`: memory from malloc, which is
 * freed. */
static void answer(struct caf_answer *r, void *data, size_t bytes, bool own, bool loose,
	void *rdata, int rdlen, int *rdsize)
{
	char *to = bytes <= (size_t)rdlen ? rdata : malloc(bytes);
	r->bytes = bytes;
	r->code = to ? 0 : CAF_ALLOCATION;
	if (to && bytes) {
		if (loose)
			caf_copy_readable(to, data, bytes);
		else
			memcpy(to, data, bytes);
	}
	if (to == rdata)
		*rdsize = (int)bytes;
	else
		r->staged = to;
	if (own)
		free(data);
}

static void get(const struct caf_question *q, struct parts *p, const struct caf_accessor *f,
	void *object, struct caf_answer *r, void *rdata, int rdlen, int *rdsize)
{
	size_t length = q->value_character ? q->value_length : q->object_length,
	       object_length = q->object_length;
	size_t *value = q->value_character || q->object_character ? &length : NULL;
	const size_t *other = q->object_character ? &object_length : value;
	size_t bytes = q->value_character ? q->bytes * length : q->bytes;
	int32_t fresh = 0;
	void *own;
	if (q->array) {
		struct caf_desc shape;
		if (p->shape.base)
			p->shape.base = malloc(caf_packed_shape(&shape, &p->shape) + 1);
		f->run.get(p->add, &q->caller, (void **)(void *)&p->shape, &fresh, object, NULL, 0,
			value, other);
		r->length = length;
		if (!p->shape.base) {
			r->code = CAF_ACCESS_ERROR;
			return;
		}
		bytes = caf_packed_shape(&r->shape, &p->shape);
		answer(r, p->shape.base, bytes, true, false, rdata, rdlen, rdsize);
		return;
	}
	own = calloc(1, bytes + 1);
	void *at = own;
	f->run.get(p->add, &q->caller, &at, &fresh, object, NULL, 0, value, other);
	r->length = length;
	bytes = q->value_character ? q->bytes * length : q->bytes;
	if (at || !bytes)
		answer(r, at, bytes, fresh && at != own, q->loose, rdata, rdlen, rdsize);
	else
		r->code = CAF_ACCESS_ERROR;
	free(own);
}

static void put(const struct caf_question *q, struct parts *p, const struct caf_accessor *f,
	void *object)
{
	size_t o = q->object_character ? q->object_length : q->value_length,
	       v = q->value_character ? q->value_length : q->object_length;
	bool character = q->object_character || q->value_character;
	p->shape.base = p->value;
	f->run.receive(p->add, &q->caller, object, q->array ? (void *)&p->shape : p->value, NULL, 0,
		character ? &o : NULL, character ? &v : NULL);
}

static void run(const struct caf_question *q, char *data, struct caf_answer *r, void *rdata,
	int rdlen, int *rdsize)
{
	const struct caf_accessor *f = caf_accessor_of(q->hash);
	struct parts p;
	struct caf_passed passed;
	if (!f) {
		r->code = CAF_ACCESS_ERROR;
		return;
	}
	split(&p, q, data);
	struct caf_view view = {.form = (enum caf_form)q->form,
		.base = q->base,
		.bytes = q->view_bytes,
		.desc = &p.desc};
	void *object = caf_pass(&passed, &view);
	if (q->kind == CAF_AT_GET)
		get(q, &p, f, object, r, rdata, rdlen, rdsize);
	else if (q->kind == CAF_AT_PUT)
		put(q, &p, f, object);
	else
		f->run.present(p.add, &q->caller, &r->present, object, NULL, 0);
	free(passed.copy);
}

/* A call that is made with its data; they are copied, since the program's functions may change them
 * and want them aligned. */
static void run_on_copy(const struct caf_question *q, const void *data, int dlen,
	struct caf_answer *r, void *rdata, int rdlen, int *rdsize)
{
	char *copy = q->staged ? q->staged : malloc((size_t)dlen + 16);
	if (!copy) {
		r->code = CAF_ALLOCATION;
		return;
	}
	if (!q->staged && dlen)
		memcpy(copy, data, (size_t)dlen);
	run(q, copy, r, rdata, rdlen, rdsize);
	free(copy);
}

static void fetch(const struct caf_question *q, void *rdata, int rdlen, int *rdsize)
{
	size_t left = q->offset < q->bytes ? q->bytes - q->offset : 0,
	       n = left < (size_t)rdlen ? left : (size_t)rdlen;
	memcpy(rdata, q->staged + (left ? q->offset : 0), n);
	*rdsize = (int)n;
	if (n == left)
		free(q->staged);
}

int caf_serve(int to, int from, void *hdr, int hlen, void *data, int dlen, void *rhdr, int rhlen,
	int *rhsize, void *rdata, int rdlen, int *rdsize, int rtype)
{
	struct caf_question q;
	struct caf_answer r;
	(void)to, (void)from, (void)rhlen, (void)hlen, (void)rtype;
	memcpy(&q, hdr, sizeof q);
	memset(&r, 0, sizeof r);
	*rdsize = 0;
	switch (q.kind) {
	case CAF_AT_STAGE:
		r.staged = malloc(q.bytes + 16);
		r.code = r.staged ? 0 : CAF_ALLOCATION;
		break;
	case CAF_AT_PIECE:
		memcpy(q.staged + q.offset, data, (size_t)dlen);
		break;
	case CAF_AT_FETCH:
		fetch(&q, rdata, rdlen, rdsize);
		break;
	case CAF_AT_READ:
	case CAF_AT_WRITE:
		caf_serve_private(&q, data, &r, rdata, rdlen, rdsize);
		break;
	default:
		run_on_copy(&q, data, dlen, &r, rdata, rdlen, rdsize);
	}
	memcpy(rhdr, &r, sizeof r);
	*rhsize = (int)sizeof r;
	return GPC_DONE;
}
