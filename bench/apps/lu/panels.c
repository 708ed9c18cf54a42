// SPDX-License-Identifier: BSD-3-Clause
// Which finished blocks other ranks need, and the ways to bring them: messages, blocking gets and
// nonblocking ones. A finished block never changes again, so a reader only has to know that it is
// finished: one-sided versions have the owner notify the readers, as a message does, and no version
// has a barrier within the factorization. Readers on the owner's node read the blocks in place.
#include "panels.h"

#include <stdlib.h>

void panel_make(struct panel *p, const struct lu *m, int most)
{
	p->copy = app_local((size_t)most * m->area * sizeof(double));
	p->reader = app_private((size_t)app_n * sizeof(int));
}

void panel_free(struct panel *p)
{
	ARMCI_Free_local(p->copy);
	free(p->reader);
}

// Of count blocks, the first at place (i, j) of the rank at (row, column) of the grid.
static void place(struct panel *p, const struct lu *m, int row, int column, int i, int j, int count)
{
	p->owner = lu_rank(m, row, column);
	p->at = lu_block_of(m, row, column, i, j);
	p->area = p->stride = m->area;
	p->count = count;
	p->needed = false;
	p->readers = p->come = p->open = 0;
}

// Notes a rank as a reader if it needs the blocks and has not got them anyway.
static void read_by(struct panel *p, int rank, bool needs)
{
	if (!needs || rank == p->owner)
		return;
	if (app_me == p->owner)
		p->reader[p->readers++] = rank;
	p->needed = p->needed || app_me == rank;
}

void panel_diagonal(struct panel *p, const struct lu *m, int k)
{
	int row = split_owner(&m->by_row, k), column = split_owner(&m->by_column, k);
	place(p, m, row, column, split_before(&m->by_row, row, k),
		split_before(&m->by_column, column, k), 1);
	for (int c = 0; c < m->columns; c++)
		read_by(p, lu_rank(m, row, c), lu_columns_left(m, c, k) > 0);
	for (int r = 0; r < m->rows; r++)
		read_by(p, lu_rank(m, r, column), lu_rows_left(m, r, k) > 0);
}

void panel_lower(struct panel *p, const struct lu *m, int k)
{
	int column = split_owner(&m->by_column, k), rows = lu_rows_left(m, m->row, k);
	place(p, m, m->row, column, lu_first_row(m, m->row, k),
		split_before(&m->by_column, column, k), rows);
	for (int c = 0; c < m->columns; c++)
		read_by(p, lu_rank(m, m->row, c), rows > 0 && lu_columns_left(m, c, k) > 0);
}

void panel_upper(struct panel *p, const struct lu *m, int k)
{
	int row = split_owner(&m->by_row, k), columns = lu_columns_left(m, m->column, k);
	place(p, m, row, m->column, split_before(&m->by_row, row, k),
		lu_first_column(m, m->column, k), columns);
	// the next block of a row is a column away
	p->stride = (size_t)split_before(&m->by_row, row, m->blocks) * m->area;
	for (int r = 0; r < m->rows; r++)
		read_by(p, lu_rank(m, r, m->column), columns > 0 && lu_rows_left(m, r, k) > 0);
}

static void brought(struct panel *p)
{
	p->at = p->copy;
	p->stride = p->area;
}

// Sends that are still open. Their blocks do not change, so they are waited for only when there are
// many.
enum { SENDS_MAX = 256 };
static MPI_Request sends[SENDS_MAX];
static int open_sends;

static void end_messages(void)
{
	MPI_Waitall(open_sends, sends, MPI_STATUSES_IGNORE);
	open_sends = 0;
}

// Long messages go on only while their sender is in MPI.
static void poll_messages(void)
{
	int all = 1;
	if (open_sends > 0)
		MPI_Testall(open_sends, sends, &all, MPI_STATUSES_IGNORE);
	if (all)
		open_sends = 0;
}

static void send(const struct panel *p, int tag)
{
	MPI_Datatype blocks;
	MPI_Type_vector(p->count, (int)p->area, (int)p->stride, MPI_DOUBLE, &blocks);
	MPI_Type_commit(&blocks);
	for (int r = 0; r < p->readers; r++) {
		if (open_sends == SENDS_MAX)
			end_messages();
		MPI_Isend(p->at, 1, blocks, p->reader[r], tag, MPI_COMM_WORLD,
			&sends[open_sends++]);
	}
	MPI_Type_free(&blocks);
}

static void bring_by_messages(struct panel **all, int panels)
{
	MPI_Request receives[2];
	int n = 0;
	for (int i = 0; i < panels; i++) {
		struct panel *p = all[i];
		if (p->needed) {
			brought(p);
			MPI_Irecv(p->copy, p->count * (int)p->area, MPI_DOUBLE, p->owner, i,
				MPI_COMM_WORLD, &receives[n++]);
		}
	}
	for (int i = 0; i < panels; i++)
		if (all[i]->readers > 0)
			send(all[i], i);
	MPI_Waitall(n, receives, MPI_STATUSES_IGNORE);
}

// Waits until a needed panel is finished; whether it has to be copied.
static bool finished(struct panel *p)
{
	int count;
	armci_notify_wait(p->owner, &count);
	return !ARMCI_Same_node(p->owner);
}

static void notify_readers(struct panel **all, int panels)
{
	for (int i = 0; i < panels; i++)
		for (int r = 0; r < all[i]->readers; r++) armci_notify(all[i]->reader[r]);
}

// The arguments of a get of some blocks of a panel, from its owner's memory to the copy.
struct get {
	double *from, *to;
	int from_stride, to_stride, count[2];
};

static struct get get_of(const struct panel *p, int first, int blocks)
{
	int bytes = (int)(p->area * sizeof(double));
	return (struct get){.from = (double *)p->at + (size_t)first * p->stride,
		.to = p->copy + (size_t)first * p->area,
		.from_stride = (int)(p->stride * sizeof(double)),
		.to_stride = bytes,
		.count = {bytes, blocks}};
}

static void bring_by_gets(struct panel **all, int panels)
{
	notify_readers(all, panels);
	for (int i = 0; i < panels; i++) {
		struct panel *p = all[i];
		if (!p->needed || !finished(p))
			continue;
		struct get g = get_of(p, 0, p->count);
		app_need(ARMCI_GetS(g.from, &g.from_stride, g.to, &g.to_stride, g.count, 1,
				 p->owner) == 0,
			"ARMCI_GetS");
		brought(p);
	}
}

static void bring_by_nonblocking_gets(struct panel **all, int panels)
{
	notify_readers(all, panels);
	for (int i = 0; i < panels; i++) {
		struct panel *p = all[i];
		if (!p->needed || !finished(p))
			continue;
		for (int first = 0; first < p->count; first += PANEL_PIECE) {
			struct get g = get_of(p, first,
				p->count - first < PANEL_PIECE ? p->count - first : PANEL_PIECE);
			armci_hdl_t *handle = &p->handle[p->open++];
			ARMCI_INIT_HANDLE(handle);
			int code = ARMCI_NbGetS(g.from, &g.from_stride, g.to, &g.to_stride, g.count,
				1, p->owner, handle);
			app_need(code == 0, "ARMCI_NbGetS");
		}
		brought(p);
	}
}

void panel_wait(struct panel *p, int block)
{
	while (panel_missing(p, block))
		app_need(ARMCI_Wait(&p->handle[p->come++]) == 0, "ARMCI_Wait");
}

const struct transport messages = {bring_by_messages, poll_messages, end_messages};
const struct transport gets = {.bring = bring_by_gets};
const struct transport nonblocking_gets = {.bring = bring_by_nonblocking_gets};
