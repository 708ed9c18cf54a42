// SPDX-License-Identifier: BSD-3-Clause
// The product by one-sided gets. Every rank computes its block of C as a sum over chunks of the
// inner dimension: while one chunk of A and B is multiplied, nonblocking strided gets bring the
// next one. What the ranks of the node hold is multiplied where it lies. No rank takes part in the
// communication of another.
#include <stdlib.h>
#include <string.h>

#include "srumma.h"

// columns of A and rows of B in a chunk at most, so that a get is worth its start
enum { DEPTH = 128 };

// A piece of A or B in the memory of a rank.
struct piece {
	int owner, rows, columns, stride; // stride: elements from a column to the next
	double *at;
	bool near; // on this node: no copy is needed
};

struct chunk {
	struct piece a, b;
};

// How the pieces of a product are got.
enum way {
	WAY_OVERLAP,  // the next chunk while one is multiplied
	WAY_BLOCKING, // a chunk is waited for at once: what the overlap gains
	WAY_ROWS,     // as WAY_OVERLAP, but a get for each column: what strided gets gain
};

// Room for one chunk, and what comes into it: one get for each piece, or for each of its columns.
struct buffer {
	double *a, *b;
	armci_hdl_t *gets;
	int outstanding;
};

static int rounded_up(int n, int parts) { return (n + parts - 1) / parts; }

static struct part matrix(const struct product *m, void ***all)
{
	struct part part = part_of(m, rounded_up(m->n, m->p), rounded_up(m->n, m->q));
	size_t bytes = (size_t)part.stride * (size_t)part.columns * sizeof(double);
	if (all) {
		*all = app_malloc(bytes);
		part.at = (*all)[app_me];
	} else {
		part.at = app_private(bytes);
	}
	return part;
}

void srumma_begin(struct product *m)
{
	m->blocks = (struct parts){matrix(m, &m->all_a), matrix(m, &m->all_b), matrix(m, NULL)};
	part_fill(&m->blocks.a, MATRIX_A);
	part_fill(&m->blocks.b, MATRIX_B);
	ARMCI_Barrier();
}

void srumma_end(struct product *m)
{
	app_free(m->all_a);
	app_free(m->all_b);
	free(m->blocks.c.at);
	part_free(&m->blocks.a);
	part_free(&m->blocks.b);
	part_free(&m->blocks.c);
}

// The chunk of the inner dimension that begins at k: columns of A that one rank of my row of the
// grid holds, and rows of B that one rank of my column holds.
static struct chunk chunk_at(const struct product *m, int k)
{
	// columns of a block of A, rows of a block of B
	int wide = rounded_up(m->n, m->q), high = rounded_up(m->n, m->p);
	int column = k / wide, row = k / high, depth = m->n - k;
	if (depth > (column + 1) * wide - k)
		depth = (column + 1) * wide - k;
	if (depth > (row + 1) * high - k)
		depth = (row + 1) * high - k;
	if (depth > DEPTH)
		depth = DEPTH;
	const struct part *my_a = &m->blocks.a, *my_b = &m->blocks.b;
	struct piece a = {.owner = m->row * m->q + column,
		.rows = my_a->rows,
		.columns = depth,
		.stride = my_a->stride};
	struct piece b = {.owner = row * m->q + m->column,
		.rows = depth,
		.columns = my_b->columns,
		.stride = share(m->n, high, row, m->p)};
	a.at = (double *)m->all_a[a.owner] + (size_t)(k - column * wide) * (size_t)a.stride;
	b.at = (double *)m->all_b[b.owner] + (k - row * high);
	a.near = ARMCI_Same_node(a.owner);
	b.near = ARMCI_Same_node(b.owner);
	return (struct chunk){a, b};
}

// The chunks in the order in which I multiply them: first what needs no get, so that the first get
// has something to hide behind. Each rank begins at a diagonal of its own, so that no two ranks of
// a row get the same block of A at the same time, and none of a column the same of B. Returns how
// many.
static int plan(const struct product *m, struct chunk *order)
{
	struct chunk *list = app_private((size_t)m->n * sizeof *list);
	int count = 0, placed = 0, larger = m->p > m->q ? m->p : m->q;
	for (int k = 0; k < m->n; k += list[count++].a.columns) list[count] = chunk_at(m, k);
	int first = (m->row + m->column) % larger * count / larger;
	for (int far = 0; far <= 1; far++)
		for (int i = 0; i < count; i++) {
			struct chunk *c = &list[(first + i) % count];
			if ((c->a.near && c->b.near) == !far)
				order[placed++] = *c;
		}
	free(list);
	return count;
}

// Starts to get each column of a piece.
static void get_columns(const struct piece *piece, double *room, struct buffer *buffer)
{
	for (int i = 0; i < piece->columns; i++) {
		armci_hdl_t *handle = &buffer->gets[buffer->outstanding++];
		ARMCI_INIT_HANDLE(handle);
		app_need(ARMCI_NbGet(piece->at + (size_t)i * (size_t)piece->stride,
				 room + (size_t)i * (size_t)piece->rows,
				 piece->rows * (int)sizeof(double), piece->owner, handle) == 0,
			"ARMCI_NbGet");
	}
}

static void get_piece(const struct piece *piece, double *room, struct buffer *buffer)
{
	armci_hdl_t *handle = &buffer->gets[buffer->outstanding++];
	int there = piece->stride * (int)sizeof(double), here = piece->rows * (int)sizeof(double),
	    count[] = {here, piece->columns};
	ARMCI_INIT_HANDLE(handle);
	app_need(ARMCI_NbGetS(piece->at, &there, room, &here, count, 1, piece->owner, handle) == 0,
		"ARMCI_NbGetS");
}

// Starts to get a piece unless it is near, and says where it will be.
static void get(struct piece *piece, double *room, struct buffer *buffer, enum way way)
{
	if (piece->near || piece->rows == 0 || piece->columns == 0)
		return;
	if (way == WAY_ROWS)
		get_columns(piece, room, buffer);
	else
		get_piece(piece, room, buffer);
	piece->at = room;
	piece->stride = piece->rows;
}

static void fetch(struct chunk *c, struct buffer *buffer, enum way way)
{
	APP_COMM(get(&c->a, buffer->a, buffer, way); get(&c->b, buffer->b, buffer, way));
}

static void wait_all(struct buffer *buffer)
{
	for (int i = 0; i < buffer->outstanding; i++)
		app_need(ARMCI_Wait(&buffer->gets[i]) == 0, "ARMCI_Wait");
	buffer->outstanding = 0;
}

static void arrive(struct buffer *buffer) { APP_COMM(wait_all(buffer)); }

static void multiply(const struct part *z, const struct chunk *c, bool first)
{
	const double one = 1, keep = first ? 0 : 1;
	if (z->rows > 0 && z->columns > 0)
		dgemm_("N", "N", &z->rows, &z->columns, &c->a.columns, &one, c->a.at, &c->a.stride,
			c->b.at, &c->b.stride, &keep, z->at, &z->stride);
}

// Room for `count` doubles. What has not come is no number.
static double *room(int count)
{
	size_t bytes = (size_t)count * sizeof(double);
	return memset(app_local(bytes), 0xff, bytes);
}

static struct buffer buffer_make(const struct product *m)
{
	size_t gets = DEPTH + (size_t)m->blocks.b.columns + 2;
	return (struct buffer){.a = room(m->blocks.a.rows * DEPTH),
		.b = room(m->blocks.b.columns * DEPTH),
		.gets = app_private(gets * sizeof(armci_hdl_t))};
}

static void buffer_free(struct buffer *buffer)
{
	ARMCI_Free_local(buffer->a);
	ARMCI_Free_local(buffer->b);
	free(buffer->gets);
}

static double run(struct product *m, enum way way)
{
	bool overlap = way != WAY_BLOCKING;
	struct chunk *order = app_private((size_t)m->n * sizeof *order);
	struct buffer buffers[2] = {buffer_make(m), buffer_make(m)};
	int count = plan(m, order);
	part_spoil(&m->blocks.c);
	MPI_Barrier(MPI_COMM_WORLD);
	double begin = timing_now();
	if (overlap)
		fetch(&order[0], &buffers[0], way);
	for (int i = 0; i < count; i++) {
		if (!overlap)
			fetch(&order[i], &buffers[i % 2], way);
		else if (i + 1 < count)
			fetch(&order[i + 1], &buffers[(i + 1) % 2], way);
		arrive(&buffers[i % 2]);
		multiply(&m->blocks.c, &order[i], i == 0);
	}
	APP_COMM(MPI_Barrier(MPI_COMM_WORLD));
	double time = timing_now() - begin;
	for (int i = 0; i < 2; i++) buffer_free(&buffers[i]);
	free(order);
	return time;
}

double srumma_run(void *product) { return run(product, WAY_OVERLAP); }
double srumma_blocking_run(void *product) { return run(product, WAY_BLOCKING); }
double srumma_rows_run(void *product) { return run(product, WAY_ROWS); }

bool srumma_good(void *product)
{
	struct product *m = product;
	return is_product(m, &m->blocks.c);
}
