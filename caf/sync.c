/* SPDX-License-Identifier: BSD-3-Clause */
/* SYNC ALL, SYNC TEAM, SYNC IMAGES and SYNC MEMORY. */
#include "calls.h"
#include "object.h"

CAF_API void _gfortran_caf_sync_memory(int *stat, char *errmsg, size_t length)
{
	(void)errmsg;
	(void)length;
	ARMCI_AllFence();
	atomic_thread_fence(memory_order_seq_cst);
	caf_success(stat);
}

/* Also called behind ALLOCATE of a coarray, then without the STAT= of that. */
CAF_API void _gfortran_caf_sync_all(int *stat, char *errmsg, size_t length)
{
	int code = caf_barrier(caf.current);
	bool told = caf.told;
	caf.told = false;
	if (likely(code == CAF_OK) || (told && code == CAF_FAILED_IMAGE && !stat))
		caf_success(stat);
	else
		caf_report(code, stat, caf_sync_message(errmsg), length, "SYNC ALL");
}

/* gfortran up to 15: the address of a team variable, and nothing behind it; from 16: a team, stat
 * and errmsg. */
CAF_API void _gfortran_caf_sync_team(const void *team, int *stat, char *errmsg, size_t length)
{
	bool modern = caf_new_style(team);
	struct caf_team *t = caf_team_of(team);
	if (!modern)
		stat = NULL;
	if (!t || !team)
		caf_error(CAF_NO_TEAM, stat, errmsg, length,
			"SYNC TEAM: not a team that this image has formed");
	else
		caf_report(caf_barrier(t), stat, errmsg, length, "SYNC TEAM");
}

/* How often each image's SYNC IMAGES has been answered, by rank; and a mark for finding images that
 * are named twice. */
static unsigned *used, *mark, round_of_mark;

static void make_counts(void)
{
	if (used)
		return;
	used = calloc((size_t)caf.n, sizeof *used);
	mark = calloc((size_t)caf.n, sizeof *mark);
	if (!used || !mark)
		caf_fatal("no memory for SYNC IMAGES");
}

/* Waits until an image has executed a SYNC IMAGES that names this one. Returns its state if it
 * never will. */
static int await(int rank)
{
	armcix_event_t *event = &caf.control[caf.me]->sync[rank];
	struct caf_end *end = &caf_ends(caf.control[caf.me], caf.n)[rank];
	for (;;) {
		unsigned count = caf_event_count(event);
		int state = atomic_load_explicit(&end->state, memory_order_acquire);
		/* An image that ends raises the event once more, behind its state. */
		if (state == CAF_RUNNING ? count != used[rank] : end->synced != used[rank]) {
			used[rank]++;
			return CAF_RUNNING;
		}
		if (state != CAF_RUNNING)
			return state;
		if (ARMCIX_Event_await(event, &caf_records(caf.control[rank], caf.n)[caf.me], count,
			    -1, rank) < 0)
			caf_fatal("SYNC IMAGES: the wait for image %d failed", rank + 1);
	}
}

static void raise_event(int rank)
{
	if (rank == caf.me)
		return;
	caf_synced()[rank]++;
	if (ARMCIX_Event_raise(&caf.control[rank]->sync[caf.me],
		    &caf_records(caf.control[caf.me], caf.n)[rank], rank) != 0)
		caf_fatal("SYNC IMAGES: no event of image %d", rank + 1);
}

static void wait_for(const int *images, int count, int *stat, char *errmsg, size_t length)
{
	int code = CAF_OK, which = 0;
	for (int i = 0; i < count; i++) {
		int image = images ? images[i] : i + 1, rank = caf.current->rank[image - 1];
		int state = rank == caf.me ? CAF_RUNNING : await(rank);
		if (state != CAF_RUNNING && code != CAF_STOPPED_IMAGE) {
			code = state;
			which = image;
		}
		if (code != CAF_OK && !stat)
			break;
	}
	if (code == CAF_OK)
		caf_success(stat);
	else
		caf_error(code, stat, errmsg, length, "SYNC IMAGES: image %d has %s", which,
			code == CAF_STOPPED_IMAGE ? "stopped" : "failed");
}

/* Whether all are images of the team, named once; else reports it. */
static bool good_list(const int *images, int count, int *stat, char *errmsg, size_t length)
{
	round_of_mark++;
	for (int i = 0; i < count; i++) {
		int rank = caf_rank(images[i]);
		if (rank < 0) {
			caf_error(CAF_NO_IMAGE, stat, errmsg, length,
				"SYNC IMAGES: there is no image %d in the team of %d", images[i],
				caf.current->n);
			return false;
		}
		if (mark[rank] == round_of_mark) {
			caf_error(CAF_DUPLICATE_IMAGE, stat, errmsg, length,
				"SYNC IMAGES: image %d is named twice", images[i]);
			return false;
		}
		mark[rank] = round_of_mark;
	}
	return true;
}

/* An event comes behind the stores to its image anyway: with one partner those to the others are to
 * be fenced. */
static void fence_for(const int *images, int count)
{
	int partners = 0, partner = caf.me;
	for (int i = 0; i < count && partners < 2; i++) {
		int rank = caf.current->rank[images ? images[i] - 1 : i];
		if (rank != caf.me) {
			partner = rank;
			partners++;
		}
	}
	if (partners == 1)
		caf_fence_others(partner);
	else
		ARMCI_AllFence();
}

/* count -1: all images of the team. Each image raises an event of each other one it names, and
 * waits for theirs. */
CAF_API void _gfortran_caf_sync_images(int count, const int images[], int *stat, char *errmsg,
	size_t length)
{
	make_counts();
	errmsg = caf_sync_message(errmsg);
	if (count < 0) {
		images = NULL;
		count = caf.current->n;
	} else if (!good_list(images, count, stat, errmsg, length)) {
		return;
	}
	fence_for(images, count);
	for (int i = 0; i < count; i++) raise_event(caf.current->rank[images ? images[i] - 1 : i]);
	wait_for(images, count, stat, errmsg, length);
}
