// SPDX-License-Identifier: BSD-3-Clause
// link.h - a reliable connection between two processes on two hosts by bare verbs, with one
// registered piece of memory at each end. It knows nothing of ARMCI, and its errors end the
// process: it is what the library is compared with.
#ifndef LINK_H
#define LINK_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LINK_DEPTH = 128, // work requests that may be outstanding
	LINK_GATHER = 32, // pieces of memory in one
};

struct link {
	struct ibv_context *device;
	struct ibv_pd *domain;
	struct ibv_comp_channel *channel;
	struct ibv_cq *queue;
	struct ibv_qp *pair;
	struct ibv_mr *region;
	char *memory; // of this end
	size_t size;  // of it
	uint64_t far; // address of the other end's
	uint32_t key; // of the other end's
	int socket;   // to the other end: closed when that has ended
	bool asleep;  // wait in the kernel, not by looking
};

// Says what went wrong, with errno, and ends the process.
void link_fail(const char *what) __attribute__((noreturn));
// The first device that can be opened, and its protection domain; no connection yet.
void link_device(struct link *l);
// By both ends, over a socket between them, which is then the link's: size bytes, zero, at each
// end.
void link_open(struct link *l, int socket, size_t size);
void link_close(struct link *l);

// Makes a request: opcode, `bytes` at offset `mine` of this end, `theirs` of the other. Signalled,
// nothing follows. The scatter list is the caller's and must live until the request is posted.
struct ibv_send_wr link_request(const struct link *l, enum ibv_wr_opcode opcode,
	struct ibv_sge *list, size_t mine, size_t theirs, size_t bytes);
// Posts a request and those that follow it.
void link_post(struct link *l, struct ibv_send_wr *first);
// Waits for n completions, and returns the status of the last; the first that is not a success ends
// the wait.
enum ibv_wc_status link_wait(struct link *l, int n);
// The next completion, of whatever it is; anything but success ends the process.
struct ibv_wc link_next(struct link *l);
// Offers room for one message, which is a number and no bytes.
void link_receive(struct link *l);
// Posts a write, if there is one, and a message after it, which completes once for both.
void link_say(struct link *l, struct ibv_send_wr *write, uint32_t number);
// Posts one request and waits for it; anything but success ends the process.
void link_do(struct link *l, struct ibv_send_wr *request);

#endif
