/* SPDX-License-Identifier: BSD-3-Clause */
/* Images: how many, which one, and which of them have stopped or failed. */
#include <stdatomic.h>
#include <time.h>

#include "calls.h"

static unsigned *synced; /* by rank: see caf_count_sync */
static int own_state;

unsigned *caf_synced(void) { return synced; }

bool caf_images_start(void)
{
	synced = calloc((size_t)caf.n, sizeof *synced);
	return synced != NULL;
}

int caf_state(int rank)
{
	const struct caf_end *end = caf_ends(caf.control[caf.me], caf.n) + rank;
	return rank == caf.me ? own_state :
				atomic_load_explicit(&end->state, memory_order_acquire);
}

/* What images that have ended agree on (attend.c) is read from their ledgers by gets: there is no
   word here to sleep on. It happens once, when an image ends, so that there is nothing for the
   policy of internal/wait to learn from. */
void caf_nap(unsigned tries)
{
	long micros = tries < 10 ? 20 : tries < 100 ? 100 : 1000;
	nanosleep(&(struct timespec){.tv_nsec = micros * 1000}, NULL);
}

/* First the state, then the count that makes others look for it, then what wakes those that wait in
 * SYNC IMAGES. */
static void tell_others(int state)
{
	static const int one = 1;
	for (int i = 0; i < caf.n; i++) {
		struct caf_end end = {.state = state, .synced = synced[i]};
		if (i != caf.me &&
			ARMCI_Put(&end, &caf_ends(caf.control[i], caf.n)[caf.me], sizeof end, i) !=
				0)
			caf_fatal("cannot tell image %d that this one ends", i + 1);
	}
	ARMCI_AllFence();
	for (int i = 0; i < caf.n; i++) {
		if (i == caf.me)
			continue;
		ARMCIX_Atomic(ARMCIX_ADD, sizeof one, NULL, &caf.control[i]->ended, &one, NULL, i);
		ARMCIX_Event_raise(&caf.control[i]->sync[caf.me],
			&caf_records(caf.control[caf.me], caf.n)[i], i);
	}
	ARMCI_AllFence();
}

void caf_end_image(int state)
{
	ARMCI_AllFence();
	own_state = state;
	tell_others(state);
	/* Before the locks: an image that takes a lock of a failed image checks for that only if it
	 * knows of ended images. */
	caf_locks_abandon(state);
	atomic_thread_fence(memory_order_seq_cst);
	caf_calls_attend();
}

static int count(const struct caf_team *t, int state)
{
	int n = 0;
	for (int i = 0; i < t->n; i++) n += caf_state(t->rank[i]) == state;
	return n;
}

/* gfortran up to 15: distance from the current team. */
static const struct caf_team *ancestor(int distance)
{
	const struct caf_team *t = caf.current;
	for (; distance > 0 && t->parent; distance--) t = t->parent;
	return t;
}

/* gfortran up to 15: a distance; from 16: a team, null for the current one. */
static const struct caf_team *team_or_distance(uintptr_t which)
{
	if (caf_team_lives((const void *)which))
		return (const struct caf_team *)which;
	return ancestor((int)which);
}

CAF_API int _gfortran_caf_this_image(uintptr_t which) { return team_or_distance(which)->me + 1; }

/* gfortran up to 15: a distance, and whether to count failed images: -1 for all, 0 those that have
 * not failed, 1 those that have. From 16: a team or null, and the address of the number of a
 * sibling team or null. */
CAF_API int _gfortran_caf_num_images(uintptr_t which, uintptr_t failed_or_number)
{
	int failed = (int)failed_or_number;
	if (caf_team_lives((const void *)which) || (caf_gfortran_16() && !which)) {
		const int *number = (const int *)failed_or_number;
		if (which || !number)
			return team_or_distance(which)->n;
		const struct caf_team *t = caf_access_team(NULL, number);
		if (!t)
			caf_fatal("NUM_IMAGES: there is no team %d beside the current one",
				*number);
		return t->n;
	}
	const struct caf_team *t = ancestor((int)which);
	int gone = failed < 0 ? 0 : count(t, CAF_FAILED_IMAGE);
	return failed < 0 ? t->n : failed ? gone : t->n - gone;
}

CAF_API int _gfortran_caf_image_status(int image, const void *team)
{
	const struct caf_team *t = caf_team_of(team);
	if (!t)
		caf_fatal("IMAGE_STATUS: not a team");
	if (image < 1 || image > t->n)
		caf_fatal("IMAGE_STATUS: there is no image %d in the team of %d", image, t->n);
	return caf_state(t->rank[image - 1]);
}

/* Makes d an array of the images in that state. */
static void list(struct caf_desc *d, const void *team, const int *kind, int state, const char *what)
{
	const struct caf_team *t = caf_team_of(team);
	size_t size = kind ? (size_t)*kind : 4;
	if (!t)
		caf_fatal("%s: not a team", what);
	if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16)
		caf_fatal("%s: there is no integer kind %d", what, *kind);
	char *a = calloc((size_t)t->n + 1, size);
	if (!a)
		caf_fatal("%s: no memory for the list", what);
	ptrdiff_t n = 0;
	for (int i = 0; i < t->n; i++)
		if (caf_state(t->rank[i]) == state) {
			int image = i + 1; /* positive: the rest of a longer integer is 0 */
			memcpy(a + (size_t)n++ * size, &image,
				size < sizeof image ? size : sizeof image);
		}
	d->base = a;
	d->offset = 0;
	d->span = (ptrdiff_t)size;
	d->dtype = (struct caf_dtype){.elem_len = size, .rank = 1, .type = CAF_INTEGER};
	d->dim[0] = (struct caf_dim){.stride = 1, .lower = 0, .upper = n - 1};
}

CAF_API void _gfortran_caf_failed_images(struct caf_desc *d, const void *team, const int *kind)
{
	list(d, team, kind, CAF_FAILED_IMAGE, "FAILED_IMAGES");
}

CAF_API void _gfortran_caf_stopped_images(struct caf_desc *d, const void *team, const int *kind)
{
	list(d, team, kind, CAF_STOPPED_IMAGE, "STOPPED_IMAGES");
}
