// SPDX-License-Identifier: BSD-3-Clause
// raw.h - two ends of verbs in two processes of this machine, for tests: both run the same
// function, and tell each other over a socket how far they are. Whatever goes wrong ends the
// process with a line.
#ifndef RAW_H
#define RAW_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { DEPTH = 64, PIECES = 4, INLINE = 64 };
#define MEMORY ((size_t)1 << 20)

// What one end tells the other.
struct place {
	union ibv_gid gid;
	uint64_t memory;
	uint32_t number, datagrams, key;
	uint16_t lid;
};

struct end {
	bool lead; // the end that asks; the other one serves
	int socket;
	struct ibv_context *device;
	struct ibv_pd *domain;
	struct ibv_comp_channel *channel;
	struct ibv_cq *queue;
	struct ibv_srq *srq; // of the reliable queue pair, if the test wants one
	struct ibv_qp *pair, *datagrams;
	struct ibv_mr *region;
	char *memory;
	struct place mine, far;
	int gid_index; // -1: by LID
};

// A test: its name, what both ends do, and how they are made.
struct test {
	const char *name;
	void (*body)(struct end *e);
	bool soft;     // needs the software device
	bool shared;   // memory that other processes can map
	bool srq;
	int rnr_retry; // 7: endless
	const char *setting, *value; // of the software device, at the end that asks
};

void raw_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
#define WANT(condition) \
	((condition) ? (void)0 : raw_fail("%s:%d: %s", __FILE__, __LINE__, #condition))

void raw_open(struct end *e, const struct test *t);
void raw_connect(struct end *e, int rnr_retry);
void raw_close(struct end *e);
bool raw_soft(struct ibv_context *device);
void raw_meet(struct end *e); // both ends are here
uint64_t raw_now(void);       // ns
void raw_rest(long us);

// A request of n bytes from offset `at` of this end's memory to offset `to` of the other's.
struct ibv_send_wr raw_request(struct end *e, enum ibv_wr_opcode opcode, struct ibv_sge *piece,
	size_t at, size_t to, size_t n);
void raw_post(struct end *e, struct ibv_send_wr *w);
void raw_receive(struct end *e, uint64_t id, size_t at, size_t n);
struct ibv_wc raw_next(struct end *e);                 // waits for a completion
enum ibv_wc_status raw_do(struct end *e, struct ibv_send_wr *w);
bool raw_quiet(struct end *e, long us);                // nothing completes in that time

extern const struct test raw_moves[], raw_errors[], raw_faults[]; // each ends with one without name
void raw_measure(struct end *e);

#endif
