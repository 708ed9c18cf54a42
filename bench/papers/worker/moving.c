// SPDX-License-Identifier: BSD-3-Clause
// Memory whose places are used one after the other, and what the papers' benchmarks of bandwidth
// hold the library against with the same places: messages of the MPI, and the raw baselines.
#include "papers.h"

#include <string.h>

#ifdef PERF_VERBS
#include "rdma.h"
#endif

enum { TAG = 21, ANSWER = 22, ROW = PAPERS_LEADING * 8 };

struct papers_moving papers_moving(void)
{
	return (struct papers_moving){.t = perf_transfer(PAPERS_SPACE), .type = MPI_BYTE};
}

static void no_type(struct papers_moving *m)
{
	if (m->type != MPI_BYTE)
		MPI_Type_free(&m->type);
	m->type = MPI_BYTE;
}

void papers_moving_end(struct papers_moving *m)
{
	no_type(m);
	perf_transfer_end(&m->t);
}

void papers_contiguous(struct papers_moving *m, int bytes)
{
	no_type(m);
	m->t.count[0] = m->elements = bytes;
	m->step = ((size_t)bytes + 4095) / 4096 * 4096 + 64;
	m->across = m->places = (PAPERS_SPACE - (size_t)bytes) / m->step + 1;
	m->next = 0;
}

void papers_patches(struct papers_moving *m, int n)
{
	no_type(m);
	m->t.count[0] = n * (int)sizeof(double);
	m->t.count[1] = n;
	m->t.stride[0] = ROW;
	m->step = (size_t)n * sizeof(double);
	m->across = PAPERS_LEADING / (size_t)n;
	m->down = (size_t)n * ROW;
	m->places = m->across * (PAPERS_SPACE / m->down);
	m->next = 0;
	MPI_Type_vector(n, n, PAPERS_LEADING, MPI_DOUBLE, &m->type);
	MPI_Type_commit(&m->type);
	m->elements = 1;
}

size_t papers_place(struct papers_moving *m)
{
	size_t k = m->next++;
	if (m->next >= m->places)
		m->next = 0;
	return k % m->across * m->step + k / m->across * m->down;
}

static void say(struct papers_moving *m)
{
	MPI_Send(m->t.mine + papers_place(m), m->elements, m->type, perf_peer, TAG, MPI_COMM_WORLD);
}

static void hear(struct papers_moving *m)
{
	MPI_Recv(m->t.mine + papers_place(m), m->elements, m->type, perf_peer, TAG, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
}

void papers_mpi_half(void *arg, long n)
{
	struct papers_moving *m = arg;
	double begin = timing_now();
	for (long i = 0; i < 2 * n && papers_takes_part(); i++)
		((i & 1) == (perf_me != 0) ? say : hear)(m);
	m->clock = (timing_now() - begin) / 2;
}

void papers_mpi_answered(void *arg, long n)
{
	struct papers_moving *m = arg;
	for (long i = 0; i < n && papers_takes_part(); i++)
		if (perf_me == 0) {
			say(m);
			MPI_Recv(NULL, 0, MPI_BYTE, perf_peer, ANSWER, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
		} else {
			hear(m);
			MPI_Send(NULL, 0, MPI_BYTE, perf_peer, ANSWER, MPI_COMM_WORLD);
		}
}

static void copy(void *arg, long n, bool put)
{
	static void *(*volatile copier)(void *, const void *, size_t) = memcpy;
	struct papers_moving *m = arg;
	void *(*call)(void *, const void *, size_t) = copier;
	for (long i = 0; i < n; i++) {
		size_t at = papers_place(m);
		char *here = m->t.mine + at, *there = m->t.theirs + at;
		call(put ? there : here, put ? here : there, (size_t)m->t.count[0]);
	}
}

static void copy_out(void *arg, long n) { copy(arg, n, true); }
static void copy_in(void *arg, long n) { copy(arg, n, false); }

#ifdef PERF_VERBS
static void requests(struct papers_moving *m, long n, bool put)
{
	enum ibv_wr_opcode opcode = put ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
	for (long i = 0; i < n; i++) {
		struct ibv_sge list;
		size_t at = papers_place(m);
		struct ibv_send_wr request = link_request(&rdma.link, opcode, &list, at, at,
			(size_t)m->t.count[0]);
		if (put && m->t.count[0] <= 64)
			request.send_flags |= IBV_SEND_INLINE;
		link_do(&rdma.link, &request);
	}
}

static void writes(void *arg, long n) { requests(arg, n, true); }
static void reads(void *arg, long n) { requests(arg, n, false); }
#else
static const perf_body writes = NULL, reads = NULL;
#endif

static void socket_out(void *arg, long n)
{
	struct papers_moving *m = arg;
	m->clock = bench_socket_moving((size_t)m->t.count[0], 0, m->step, n);
}

static void socket_in(void *arg, long n)
{
	struct papers_moving *m = arg;
	m->clock = bench_socket_moving(0, (size_t)m->t.count[0], m->step, n);
}

struct papers_way papers_raw(struct papers_moving *m, bool put)
{
	struct papers_way way = {.name = put ? "raw-put" : "raw-get"};
	switch (perf_alone ? BENCH_NONE : bench_raw()) {
	case BENCH_NODE: way.body = put ? copy_out : copy_in; break;
	case BENCH_SOCKET: way.body = put ? socket_out : socket_in, way.clock = &m->clock; break;
	case BENCH_VERBS: way.body = put ? writes : reads; break;
	case BENCH_OFI:
	case BENCH_NONE: break;
	}
	return way;
}
