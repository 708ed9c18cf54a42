/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions with operators that ARMCI does not know: a binomial tree of messages, in pieces that
 * are sent one behind the other. */
#include "reduce.h"

enum {
	PIECE = 32768,    /* bytes sent at a time, if an element is not larger */
	/* of messages of this file; the calling thread of an image is in one reduction at a time */
	TAG = 0x0caf0000,
	LONGEST = 1 << 30 /* bytes of one broadcast */
};

static void piece_to_root(struct caf_team *t, int root, char *data, char *other, size_t n,
	const struct caf_combine *c)
{
	int bytes = (int)(n * c->elem), place = (t->me - root + t->n) % t->n;
	for (int bit = 1; bit < t->n; bit <<= 1) {
		if (place & bit) {
			armci_msg_snd(TAG, data, bytes, t->rank[(place - bit + root) % t->n]);
			return;
		}
		if (place + bit < t->n) {
			armci_msg_rcv(TAG, other, bytes, NULL,
				t->rank[(place + bit + root) % t->n]);
			c->f(c, data, other, n);
		}
	}
}

void caf_reduce_tree(struct caf_team *t, int root, char *data, size_t n,
	const struct caf_combine *c)
{
	size_t step = c->elem < PIECE ? PIECE / c->elem : 1, all = n * c->elem;
	char *other = malloc(step * c->elem);
	struct caf_combine chosen = *c;
	if (c->extended && caf_extended(t, c, data, all))
		chosen.f = c->extended;
	if (!other)
		caf_fatal("no memory for a reduction of elements of %zu bytes", c->elem);
	for (size_t i = 0; i < n; i += step)
		piece_to_root(t, root < 0 ? 0 : root, data + i * c->elem, other,
			n - i < step ? n - i : step, &chosen);
	free(other);
	for (size_t at = 0; root < 0 && at < all; at += LONGEST)
		caf_call_bcast(data + at, (int)(all - at < LONGEST ? all - at : LONGEST),
			t->rank[0], t->group);
}
