// SPDX-License-Identifier: BSD-3-Clause
// message.c - two-sided messages: ring, to oneself, tags out of order, from any rank, empty and
// large ones, both directions at once. Broadcasts are in bcast.c, reductions in gop.c.
#include "check.h"

#include <unistd.h>

enum { BIG = 3 << 20 };

static unsigned char *out, *in;

static void ring(void)
{
	int to = (me + 1) % np, from = (me + np - 1) % np;
	for (int n = 0; n <= BIG; n = n * 5 + 1) {
		int got = -1;
		check_fill(out, (size_t)n, (uint64_t)(n + me));
		memset(in, 0, (size_t)n);
		if (me % 2 == 0)
			armci_msg_snd(11, out, n, to);
		armci_msg_rcv(11, in, BIG, &got, from);
		if (me % 2)
			armci_msg_snd(11, out, n, to);
		CHECK_INT(got, n);
		check_fill(out, (size_t)n, (uint64_t)(n + from));
		CHECK_MEM(in, out, (size_t)n);
	}
}

static void oneself(void)
{
	int got, value, v[3] = {7, 8, 9};
	for (int i = 0; i < 3; i++)
		armci_msg_snd(20 + i, &v[i], sizeof(int), me);
	for (int i = 2; i >= 0; i--) {
		armci_msg_rcv(20 + i, &value, sizeof value, &got, me);
		CHECK_INT(value, v[i]);
		CHECK_INT(got, sizeof value);
	}
	check_fill(out, 1 << 20, 3);
	armci_msg_snd(5, out, 1 << 20, me);
	armci_msg_rcv(5, in, 1 << 20, NULL, me);
	CHECK_MEM(in, out, 1 << 20);
}

// A receiver chooses by tag; messages of one tag stay in order.
static void tags(void)
{
	enum { TAGS = 20, EACH = 5 };
	int to = (me + 1) % np, from = (me + np - 1) % np, got;
	for (int k = 0; k < EACH; k++)
		for (int t = 0; t < TAGS; t++) {
			int value = 1000 * t + k;
			armci_msg_snd(100 + t, &value, sizeof value, to);
		}
	for (int t = TAGS - 1; t >= 0; t--)
		for (int k = 0; k < EACH; k++) {
			int value = -1;
			armci_msg_rcv(100 + t, &value, sizeof value, &got, from);
			CHECK_INT(value, 1000 * t + k);
		}
}

// Rank 0 receives from any rank; every sender's messages come in order and complete.
static void from_any_rank(void)
{
	enum { EACH = 50 };
	if (me != 0) {
		for (int k = 0; k < EACH; k++) {
			int value[2] = {me, k};
			armci_msg_snd(77, value, sizeof value, 0);
		}
		return;
	}
	int seen[64] = {0};
	CHECK(np <= 64);
	for (int k = 0; k < EACH * (np - 1); k++) {
		int value[2], got = 0;
		int source = armci_msg_rcvany(77, value, sizeof value, &got);
		CHECK_INT(got, sizeof value);
		CHECK_INT(value[0], source);
		CHECK_INT(value[1], seen[source]);
		seen[source]++;
	}
	for (int r = 1; r < np; r++)
		CHECK_INT(seen[r], EACH);
}

// Pairs exchange large messages: the lower one sends first, then both take turns.
static void both_ways(void)
{
	int partner = me ^ 1;
	if (partner >= np)
		return;
	for (int round = 0; round < 10; round++) {
		int n = BIG >> round, got;
		check_fill(out, (size_t)n, (uint64_t)(me + round));
		if (me < partner) {
			armci_msg_snd(1, out, n, partner);
			armci_msg_rcv(2, in, n, &got, partner);
		} else {
			armci_msg_rcv(1, in, n, &got, partner);
			armci_msg_snd(2, out, n, partner);
		}
		CHECK_INT(got, n);
		check_fill(out, (size_t)n, (uint64_t)(partner + round));
		CHECK_MEM(in, out, (size_t)n);
	}
}

static void send_i(int i, int n, int to)
{
	check_fill(out, (size_t)n, (uint64_t)i);
	armci_msg_snd(13, out, n, to);
}

static void receive_i(int i, int n, int from)
{
	int got = -1;
	armci_msg_rcv(13, in, BIG, &got, from);
	CHECK_INT(got, n);
	check_fill(out, (size_t)n, (uint64_t)i);
	CHECK_MEM(in, out, (size_t)n);
}

// Messages of one tag keep their order, however long each is and however it travels, also where
// they wait for a receiver that comes late. Partners may be on different nodes; one sends all, the
// other sends them back.
static void lengths_mixed(void)
{
	static const int length[] = {8, 0, 100, 4000, 8, 9000, 8, 40000, 1, 300, 8000, 8, 120000,
		8, 8};
	enum { LENGTHS = sizeof length / sizeof *length, ALL = 15 * LENGTHS };
	int partner = (me + np / 2) % np;
	for (int late = 0; late < 2 && np % 2 == 0; late++) {
		armci_msg_barrier();
		for (int i = 0; i < ALL && me < partner; i++)
			send_i(i, length[i % LENGTHS], partner);
		if (late)
			usleep(20000);
		for (int i = 0; i < ALL; i++) {
			receive_i(i, length[i % LENGTHS], partner);
			if (me > partner)
				send_i(i, length[i % LENGTHS], partner);
		}
	}
}

// A receiver takes nothing: what is sent to another rank meanwhile does not wait for it.
static void receiver_behind(void)
{
	enum { FEW = 500, MANY = 6000 }; // so that the first find room in a mailbox
	char data[64] = {0};
	int word = 0, first = 1 % np, last = np - 1;
	armci_msg_barrier();
	for (int i = 0; me == 0 && i < FEW; i++)
		armci_msg_snd(14, data, sizeof data, first);
	for (int i = 0; me == 0 && i < MANY; i++)
		armci_msg_snd(15, &i, sizeof i, last);
	for (int i = 0; me == last && i < MANY; i++) {
		armci_msg_rcv(15, &word, sizeof word, NULL, 0);
		CHECK_INT(word, i);
	}
	armci_msg_barrier();
	for (int i = 0; me == first && i < FEW; i++)
		armci_msg_rcv(14, data, sizeof data, NULL, 0);
}

// Small messages to all ranks before anything is received: they must be taken in without a
// receiver.
static void all_to_all(void)
{
	for (int round = 0; round < 20; round++) {
		for (int k = 0; k < np; k++) {
			int value = 100 * me + round, to = (me + k) % np;
			armci_msg_snd(9, &value, sizeof value, to);
		}
		for (int k = 0; k < np; k++) {
			int value, from = (me + np - k) % np;
			armci_msg_rcv(9, &value, sizeof value, NULL, from);
			CHECK_INT(value, 100 * from + round);
		}
	}
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	out = check_alloc(BIG);
	in = check_alloc(BIG);
	if (np > 1)
		ring();
	oneself();
	tags();
	from_any_rank();
	armci_msg_barrier();
	both_ways();
	all_to_all();
	lengths_mixed();
	receiver_behind();
	return check_end("message");
}
