/* SPDX-License-Identifier: BSD-3-Clause */
/* Start of the library. */
#include <stdlib.h>

#include "caf.h"

struct caf caf;

static void *memory_or_die(void *p)
{
	if (!p)
		caf_fatal("no memory");
	return p;
}

/* Each image's control block: see struct caf_control. */
static void make_control(void)
{
	size_t bytes = sizeof(struct caf_control) +
		(size_t)caf.n * (2 * sizeof(armcix_event_t) + sizeof(struct caf_end));
	void **at = memory_or_die(calloc((size_t)caf.n, sizeof *at));
	if (ARMCI_Malloc(at, (armci_size_t)bytes) != 0)
		caf_fatal("no memory for the images' control blocks");
	caf.control = (struct caf_control **)at;
	memset(at[caf.me], 0, bytes);
	caf.ended = &caf.control[caf.me]->ended;
}

static void make_initial_team(void)
{
	struct caf_team *t = memory_or_die(calloc(1, sizeof *t));
	t->number = -1;
	t->n = caf.n;
	t->me = caf.me;
	t->rank = memory_or_die(calloc((size_t)caf.n, sizeof *t->rank));
	for (int i = 0; i < caf.n; i++) t->rank[i] = i;
	ARMCI_Group_get_world(&t->group);
	caf.near = memory_or_die(calloc((size_t)caf.n, sizeof *caf.near));
	for (int i = 0; i < caf.n; i++) caf.near[i] = ARMCI_Same_node(i) != 0;
	caf.initial = caf.current = caf.teams = t;
	if (!caf_images_start() || !caf_calls_create(t))
		caf_fatal("no memory");
}

void caf_start(void)
{
	if (caf.on)
		return;
	if (ARMCI_Init() != 0)
		exit(1);
	caf.me = armci_msg_me();
	caf.n = armci_msg_nproc();
	make_control();
	make_initial_team();
	caf_shared_start();
	caf_remote_start();
	caf_random_start();
	caf.on = true;
	armci_msg_barrier();
}

CAF_API void _gfortran_caf_init(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	caf_start();
	armci_msg_barrier(); /* what static coarrays start with is there */
}
