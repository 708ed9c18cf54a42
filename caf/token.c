/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coarrays: allocated by all images of the team together, and their components, which an image
 * allocates alone. The compiler holds a pointer to a token of each.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "caf.h"

enum { POOL = 128 };
struct pool {
	struct pool *next;
	struct caf_token token[POOL];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool *pools;
static struct caf_token *spare; /* by next */

static struct caf_token *new_token(void)
{
	pthread_mutex_lock(&lock);
	if (!spare) {
		struct pool *p = calloc(1, sizeof *p);
		if (p) {
			p->next = pools;
			pools = p;
			for (int i = 0; i < POOL; i++) {
				p->token[i].next = spare;
				spare = &p->token[i];
			}
		}
	}
	struct caf_token *t = spare;
	if (t) {
		spare = t->next;
		*t = (struct caf_token){.live = true};
	}
	pthread_mutex_unlock(&lock);
	return t;
}

static void drop_token(struct caf_token *t)
{
	if (t->link) {
		*t->link = t->next;
		if (t->next)
			t->next->link = t->link;
	}
	free(t->at);
	free(t->locks);
	pthread_mutex_lock(&lock);
	*t = (struct caf_token){.next = spare};
	spare = t;
	pthread_mutex_unlock(&lock);
}

/* The compiler does not set the token of a component that it has not registered: it may be any
 * bits. */
struct caf_token *caf_live_token(void *token)
{
	struct caf_token *found = NULL;
	pthread_mutex_lock(&lock);
	for (struct pool *p = pools; p && !found; p = p->next) {
		uintptr_t offset = (uintptr_t)token - (uintptr_t)p->token;
		if (offset < sizeof p->token && offset % sizeof(struct caf_token) == 0 &&
			((struct caf_token *)token)->live)
			found = token;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

static bool is_event(int kind) { return kind == CAF_EVENT_STATIC || kind == CAF_EVENT_ALLOC; }
static bool is_lock(int kind)
{
	return kind == CAF_LOCK_STATIC || kind == CAF_LOCK_ALLOC || kind == CAF_CRITICAL;
}

/* Collective memory of the team's images, with addresses by rank. False on all: no memory. t: null
 * if this image has none for a token. An image without memory for its own tables asks for less than
 * nothing, so that the allocation fails on all. */
static bool allocate(struct caf_token *t, const struct caf_members *m, size_t bytes)
{
	void *nowhere, **at = t ? calloc((size_t)m->n, sizeof *at) : NULL;
	bool ready = at && (t->at = calloc((size_t)caf.n, sizeof *t->at)) &&
		(!is_lock(t->kind) || caf_locks_prepare(t));
	ARMCI_Group group = m->group;
	if (!ready)
		caf_warn("no memory for a coarray's tables: no image gets the coarray");
	if (ARMCI_Malloc_group(at ? at : &nowhere, ready ? (armci_size_t)bytes : -1, &group)) {
		free(at);
		return false;
	}
	for (int i = 0; i < m->n; i++) {
		t->at[m->rank[i]] = at[i];
		caf_shared_add(m->rank[i], at[i], bytes);
	}
	free(at);
	t->own = t->at[caf.me];
	t->bytes = bytes;
	t->images = m->n;
	t->owns = true;
	return true;
}

/* The memory can be given back only by all that allocated it; after an image has failed it is left.
 */
static void give_back(struct caf_token *t)
{
	const struct caf_members *m = caf_members(t->team);
	ARMCI_Group group = m->group;
	if (t->owns && m->n == t->images)
		ARMCI_Free_group(t->own, &group);
}

static void chain(struct caf_token *t)
{
	t->next = t->team->allocated;
	if (t->next)
		t->next->link = &t->next;
	t->link = &t->team->allocated;
	t->team->allocated = t;
}

static int register_coarray(size_t size, enum caf_register kind, struct caf_token **token,
	struct caf_desc *d)
{
	int ended = caf_gate(caf.current);
	if (ended == CAF_STOPPED_IMAGE)
		return ended;
	struct caf_token *t = new_token();
	if (t) {
		t->kind = kind;
		t->team = caf.current;
		t->elem = d ? d->dtype.elem_len : size;
		t->type = d ? d->dtype.type : CAF_VOID;
		t->desc = d && d->dtype.rank > 0 ? d : NULL;
	}
	size_t bytes = is_event(kind) ? size * sizeof(armcix_event_t) :
		is_lock(kind)         ? size * sizeof(void *) :
					size;
	if (!allocate(t, caf_members(caf.current), bytes ? bytes : 1) ||
		(is_lock(kind) && !caf_locks_create(t, size))) {
		if (t) {
			give_back(t);
			drop_token(t);
		}
		return CAF_ALLOCATION;
	}
	/* Components that the compiler has not registered must not look like tokens; events and
	 * locks begin at 0. */
	if (is_event(kind) || is_lock(kind) || !d || d->dtype.type == CAF_DERIVED ||
		d->dtype.type == CAF_CLASS)
		memset(t->own, 0, bytes);
	chain(t);
	t->where = token;
	*token = t;
	d->base = t->own;
	return ended;
}

struct caf_token *caf_component_token(struct caf_desc *d)
{
	struct caf_token *t = new_token();
	if (t) {
		t->kind = CAF_ALLOCATE_ONLY;
		t->desc = d;
	}
	return t;
}

struct caf_token *caf_component_of(const struct caf_desc *d)
{
	struct caf_token *found = NULL;
	pthread_mutex_lock(&lock);
	for (struct pool *p = pools; p && !found; p = p->next) {
		for (int i = 0; i < POOL && !found; i++) {
			if (p->token[i].live && p->token[i].desc == d && !p->token[i].at)
				found = &p->token[i];
		}
	}
	pthread_mutex_unlock(&lock);
	return found;
}

void caf_component_replace(struct caf_token *t, void *memory, size_t bytes)
{
	if (t->owns)
		caf_heap_free(t->own);
	t->own = memory;
	t->bytes = bytes;
	t->owns = true;
}

/* The coarray, or the coarray or component, in whose own memory an address is. */
static struct caf_token *holder(const void *address, bool or_component)
{
	const char *p = address;
	struct caf_token *found = NULL;
	pthread_mutex_lock(&lock);
	for (struct pool *pool = pools; pool && !found; pool = pool->next) {
		for (struct caf_token *t = pool->token; t < pool->token + POOL && !found; t++)
			if (t->live && t->own && t->kind != CAF_MAP_EXISTING &&
				(t->at || or_component) && p >= t->own &&
				p < t->own + (t->bytes ? t->bytes : 1))
				found = t;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

/* An assignment to a component that is not allocated registers it as if it were a coarray; but the
 * image is alone in it. */
static bool is_component(int kind, struct caf_token **token)
{
	return kind == CAF_REGISTER_ONLY || kind == CAF_ALLOCATE_ONLY ||
		(kind == CAF_COARRAY_ALLOC && holder(token, true));
}

static int register_component(size_t size, enum caf_register kind, struct caf_token **token,
	struct caf_desc *d)
{
	struct caf_token *t = kind == CAF_REGISTER_ONLY ? NULL : caf_live_token(*token);
	/* the token of what was copied here */
	if (!t || t->at || (kind == CAF_COARRAY_ALLOC && t->own))
		t = new_token();
	if (!t)
		return CAF_ALLOCATION;
	t->kind = kind == CAF_REGISTER_ONLY ? kind : CAF_ALLOCATE_ONLY;
	t->desc = d->dtype.rank > 0 ? d : NULL;
	*token = t;
	if (kind == CAF_REGISTER_ONLY) {
		d->base = NULL;
		return CAF_OK;
	}
	t->own = caf_heap_alloc(size ? size : 1);
	t->bytes = size;
	t->owns = true;
	d->base = t->own;
	return t->own ? CAF_OK : CAF_ALLOCATION;
}

/* CHANGE TEAM (team, y[*] => x): a token of y, for what d describes of the memory of x, until END
 * TEAM. */
static int map_existing(struct caf_token **token, struct caf_desc *d)
{
	struct caf_token *from = holder(d->base, false), *t = from ? new_token() : NULL;
	if (!from)
		caf_fatal("CHANGE TEAM: what is associated is not an allocated coarray");
	if (!t)
		return CAF_ALLOCATION;
	ptrdiff_t skip = (char *)d->base - from->own;
	*t = (struct caf_token){.live = true,
		.own = d->base,
		.bytes = from->bytes - (size_t)skip,
		.elem = from->elem,
		.type = from->type,
		.team = caf.current,
		.kind = CAF_MAP_EXISTING,
		.at = malloc((size_t)caf.n * sizeof *t->at)};
	if (!t->at) {
		drop_token(t);
		return CAF_ALLOCATION;
	}
	for (int i = 0; i < caf.n; i++) t->at[i] = from->at[i] ? from->at[i] + skip : NULL;
	chain(t);
	*token = t;
	return CAF_OK;
}

/* Every image of the team calls it for coarrays, in the same order; for components (kinds ONLY) an
 * image alone. A program's static coarrays are registered before main. d is the image's own
 * descriptor and gets the address. */
CAF_API void _gfortran_caf_register(size_t size, int kind, struct caf_token **token,
	struct caf_desc *d, int *stat, char *errmsg, size_t length)
{
	int code;
	caf_start();
	if (is_component(kind, token))
		code = register_component(size, (enum caf_register)kind, token, d);
	else if (kind == CAF_MAP_EXISTING)
		code = map_existing(token, d);
	else
		code = register_coarray(size, (enum caf_register)kind, token, d);
	/* gfortran sets the bounds only if stat is 0, and then synchronizes without STAT=. So the
	 * memory can be used, and the program hears of the failed image from the next statement
	 * that tells. */
	caf.told = stat && code == CAF_FAILED_IMAGE;
	if (caf.told)
		code = CAF_OK;
	if (code == CAF_ALLOCATION)
		caf_error(code, stat, errmsg, length, "ALLOCATE: no memory for a coarray of %zu %s",
			size, is_event(kind) || is_lock(kind) ? "elements" : "bytes");
	else
		caf_report(code, stat, errmsg, length, "ALLOCATE");
}

static void free_component(struct caf_token *t)
{
	if (t->owns)
		caf_heap_free(t->own);
	t->own = NULL;
	t->owns = false;
	if (t->desc)
		t->desc->base = NULL;
}

static int free_coarray(struct caf_token *t)
{
	if (t->kind == CAF_MAP_EXISTING) { /* only a name of it */
		drop_token(t);
		return CAF_OK;
	}
	int ended = caf_barrier(t->team);
	if (t->locks)
		caf_locks_destroy(t);
	if (ended != CAF_STOPPED_IMAGE)
		give_back(t);
	if (t->desc)
		t->desc->base = NULL;
	drop_token(t);
	return ended;
}

void caf_free_allocated(struct caf_team *t)
{
	while (t->allocated) {
		struct caf_token *c = t->allocated, **where = c->where;
		free_coarray(c);
		if (where && *where == c)
			*where = NULL; /* gfortran 16 asks by the token whether it is allocated */
	}
}

CAF_API void _gfortran_caf_deregister(struct caf_token **token, int kind, int *stat, char *errmsg,
	size_t length)
{
	struct caf_token *t = caf_live_token(*token);
	int code = CAF_OK;
	if (!t) {
		caf_error(CAF_ALLOCATION, stat, errmsg, length,
			"DEALLOCATE: not an allocated coarray");
		return;
	}
	if (t->at) {
		code = free_coarray(t);
		*token = NULL;
	} else {
		free_component(t);
		if (kind != CAF_DEALLOCATE_ONLY) {
			drop_token(t);
			*token = NULL;
		}
	}
	caf_report(code, stat, errmsg, length, "DEALLOCATE");
}
