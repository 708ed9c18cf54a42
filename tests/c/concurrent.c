// SPDX-License-Identifier: BSD-3-Clause
// concurrent.c - 64 strided transfers of 64 KiB under way at a time, of short rows and of long
// ones: far more than the buffers of a process hold where these are set to their least. Every byte
// between the rows stays.
#include "check.h"

enum { MANY = 64, BYTES = 64 << 10, GAP = 2 }; // a row and as much that is not of it

static const int rows[] = {64, 2048};
static unsigned char *source, *target;

static unsigned char *patch(unsigned char *base, int k) { return base + (size_t)k * GAP * BYTES; }

// number K of rank R's patches, in what way: a double for each place.
static double value(int r, int k, int i, int how) { return how * 1e7 + r * 1e6 + k * 1e4 + i; }

static void fill(int row, int how)
{
	memset(source, 0, (size_t)MANY * GAP * BYTES);
	memset(target, 0xff, (size_t)MANY * GAP * BYTES);
	for (int k = 0; k < MANY; k++)
		for (int i = 0; i < BYTES / 8; i++) {
			double v = value(me, k, i, how);
			memcpy(patch(source, k) + i * 8 / row * row * GAP + i * 8 % row, &v, 8);
		}
}

// compare: what came back is so many times what was sent, and nothing else.
static void compare(int row, int how, double times)
{
	unsigned char gap[2048];
	memset(gap, 0xff, sizeof gap);
	for (int k = 0; k < MANY; k++)
		for (int at = 0; at < BYTES; at += row) {
			unsigned char *got = patch(target, k) + at * GAP;
			for (int i = 0; i < row; i += 8) {
				double v;
				memcpy(&v, got + i, 8);
				CHECK_DBL(v, times * value(me, k, (at + i) / 8, how));
			}
			CHECK_MEM(got + row, gap, row);
		}
}

static void wait_for_all(armci_hdl_t h[])
{
	for (int k = 0; k < MANY; k++)
		CHECK_OK(ARMCI_Wait(&h[k]));
}

// Put all, add the same to it, get all; the patches lie densely at the peer.
static void run(unsigned char *there, int peer, int row, int how)
{
	armci_hdl_t h[MANY];
	int stride = row * GAP, dense = row, count[2] = {row, BYTES / row};
	double scale = 2;
	fill(row, how);
	memset(h, 0, sizeof h);
	for (int k = 0; k < MANY; k++)
		CHECK_OK(ARMCI_NbPutS(patch(source, k), &stride, there + k * BYTES, &dense, count,
			1, peer, &h[k]));
	wait_for_all(h);
	ARMCI_Fence(peer);
	for (int k = 0; k < MANY; k++)
		CHECK_OK(ARMCI_NbAccS(ARMCI_ACC_DBL, &scale, patch(source, k), &stride,
			there + k * BYTES, &dense, count, 1, peer, &h[k]));
	wait_for_all(h);
	ARMCI_Fence(peer);
	for (int k = 0; k < MANY; k++)
		CHECK_OK(ARMCI_NbGetS(there + k * BYTES, &dense, patch(target, k), &stride, count,
			1, peer, &h[k]));
	wait_for_all(h);
	compare(row, how, 3);
}

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc((size_t)MANY * BYTES);
	source = malloc((size_t)MANY * GAP * BYTES);
	target = malloc((size_t)MANY * GAP * BYTES);
	CHECK(source && target);
	int peer = np - 1 - me; // on another node, where there are several
	for (int i = 0; i < 2; i++) {
		run(base[peer], peer, rows[i], i + 1);
		ARMCI_Barrier();
	}
	free(source);
	free(target);
	check_free(base);
	return check_end("concurrent");
}
