/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses by a procedure call: the caller's side. The program's function runs in the process of
 * the image that is accessed (remote_serve.c). What does not fit into one call goes to memory that
 * the other side stages, in pieces, before the call, or comes from it, after the call.
 */
#include <gpc.h>
#include <stdlib.h>
#include <string.h>

#include "remote.h"

enum { PIECE = 4 << 20, SMALL = 4096 };

/* One call. The reply's data go to room. */
static int call(int rank, struct caf_question *q, void *data, size_t bytes, struct caf_answer *r,
	void *room, size_t room_bytes)
{
	char none[16];
	int rc = ARMCI_Gpc_exec(caf_remote_handler, rank, q, (int)sizeof *q, bytes ? data : NULL,
		(int)bytes, r, (int)sizeof *r, room_bytes ? room : none,
		(int)(room_bytes ? room_bytes : sizeof none), NULL);
	if (rc)
		return caf_state(rank) == CAF_FAILED_IMAGE ? CAF_FAILED_IMAGE : CAF_ACCESS_ERROR;
	return r->code;
}

/* Brings the data of a large call to memory of the other side, which q then names. */
static int stage(int rank, struct caf_question *q, char *data, size_t bytes)
{
	struct caf_question s = {.kind = CAF_AT_STAGE, .bytes = bytes};
	struct caf_answer r;
	int code = call(rank, &s, NULL, 0, &r, NULL, 0);
	if (code)
		return code;
	s.kind = CAF_AT_PIECE;
	q->staged = s.staged = r.staged;
	for (size_t done = 0; done < bytes && !code; done += PIECE) {
		s.offset = done;
		code = call(rank, &s, data + done, bytes - done < PIECE ? bytes - done : PIECE, &r,
			NULL, 0);
	}
	return code;
}

/* What the getter has found has come to f->room, or waits at the other side. */
static int fetch(int rank, const struct caf_answer *found, struct caf_found *f)
{
	struct caf_question q = {.kind = CAF_AT_FETCH,
		.bytes = found->bytes,
		.staged = found->staged};
	struct caf_answer r;
	f->data = found->bytes <= f->room_bytes ? f->room : malloc(found->bytes);
	for (size_t left; q.offset < found->bytes; q.offset += PIECE) {
		left = found->bytes - q.offset;
		if (!f->data)
			q.offset = found->bytes; /* only gives it back */
		int code = call(rank, &q, NULL, 0, &r, f->data ? (char *)f->data + q.offset : NULL,
			!f->data             ? 0 :
				left < PIECE ? left :
					       PIECE);
		if (code)
			return code;
	}
	return f->data ? 0 : CAF_ALLOCATION;
}

static char *append(char *to, const void *from, size_t bytes)
{
	if (from && bytes)
		memcpy(to, from, bytes);
	return to + caf_part(bytes);
}

static void ask(struct caf_question *q, enum caf_call_kind kind, const struct caf_access *a)
{
	memset(q, 0, sizeof *q);
	q->kind = kind;
	q->hash = a->accessor->hash;
	q->caller = a->caller;
	q->form = a->view.form;
	q->base = a->view.base;
	q->view_bytes = a->view.bytes;
	q->desc = a->view.form == CAF_DESCRIPTOR ? caf_desc_bytes(a->view.desc) : 0;
	q->add = a->add ? a->add_bytes : 0;
	q->object_character = a->object_length != NULL;
	q->value_character = a->value_length != NULL;
	q->object_length = a->object_length ? *a->object_length : 0;
	q->value_length = a->value_length ? *a->value_length : 0;
}

/* A call with descriptor, add and the descriptor of a value; `value` bytes follow, of an array or a
 * scalar. */
static int exec(const struct caf_access *a, struct caf_question *q, const struct caf_desc *shape,
	const struct caf_desc *array, const void *scalar, struct caf_answer *r, void *room,
	size_t room_bytes)
{
	size_t bytes = caf_part(q->desc) + caf_part(q->add) + caf_part(q->shape) +
		caf_part(q->value);
	_Alignas(16) char small[SMALL];
	char *data = bytes <= SMALL ? small : malloc(bytes), *at = data;
	if (!data)
		return CAF_ALLOCATION;
	at = append(at, a->view.desc, q->desc);
	at = append(at, a->add, q->add);
	at = append(at, shape, q->shape);
	if (array)
		caf_pack(at, array);
	else if (scalar)
		caf_copy_readable(at, scalar, q->value);
	int code = bytes > PIECE ? stage(a->rank, q, data, bytes) : 0;
	if (!code)
		code = call(a->rank, q, data, bytes > PIECE ? 0 : bytes, r, room, room_bytes);
	if (data != small)
		free(data);
	return code;
}

int caf_call_get(const struct caf_access *a, struct caf_found *f, size_t bytes, bool loose)
{
	struct caf_question q;
	struct caf_answer r;
	_Alignas(16) char small[SMALL];
	char *room = f->room;
	size_t room_bytes = f->room_bytes;
	ask(&q, CAF_AT_GET, a);
	q.value_length = f->length;
	q.bytes = bytes;
	q.loose = loose;
	q.array = bytes == 0;
	q.shape = q.array ? caf_desc_bytes(&f->shape) : 0;
	if (!room_bytes) {
		room = small;
		room_bytes = sizeof small;
	}
	int code = exec(a, &q, &f->shape, NULL, NULL, &r, room,
		room_bytes < PIECE ? room_bytes : PIECE);
	if (code)
		return code;
	f->bytes = r.bytes;
	f->length = r.length;
	f->shape = r.shape;
	if (r.staged)
		return fetch(a->rank, &r, f);
	f->data = room;
	if (room == small) {
		f->data = malloc(r.bytes ? r.bytes : 1);
		if (!f->data)
			return CAF_ALLOCATION;
		memcpy(f->data, small, r.bytes);
	}
	return 0;
}

int caf_call_put(const struct caf_access *a, const struct caf_desc *desc, const void *scalar,
	size_t bytes)
{
	struct caf_question q;
	struct caf_answer r;
	struct caf_desc shape;
	ask(&q, CAF_AT_PUT, a);
	q.array = desc != NULL;
	q.value = desc ? caf_packed_shape(&shape, desc) : bytes;
	q.shape = desc ? caf_desc_bytes(desc) : 0;
	return exec(a, &q, &shape, desc, scalar, &r, NULL, 0);
}

int caf_call_present(const struct caf_access *a, int32_t *present)
{
	struct caf_question q;
	struct caf_answer r;
	ask(&q, CAF_AT_PRESENT, a);
	int code = exec(a, &q, NULL, NULL, NULL, &r, NULL, 0);
	*present = code ? 0 : r.present;
	return code;
}
