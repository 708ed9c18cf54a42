// SPDX-License-Identifier: BSD-3-Clause
// sel.c - armci_msg_sel: the record with the least or greatest first element reaches all;
// ranks that do not contribute are ignored; among equals the lowest rank wins.
#include "check.h"

#define SEL(name, type, constant) \
	struct rec_##name { \
		type key; \
		int rank, fill[500]; \
	}; \
	static struct rec_##name make_##name(int r, type key) \
	{ \
		struct rec_##name x = {.key = key, .rank = r}; \
		for (int i = 0; i < 500; i++) x.fill[i] = 1000 * r + i; \
		return x; \
	} \
	static void expect_##name(struct rec_##name *x, int winner, type key) \
	{ \
		CHECK(x->key == key); \
		CHECK_INT(x->rank, winner); \
		for (int i = 0; i < 500; i++) CHECK_INT(x->fill[i], 1000 * winner + i); \
	} \
	static void all_##name(void) \
	{ \
		for (int w = 0; w < np; w++) { \
			struct rec_##name x = make_##name(me, (type)(me == w ? -5 : 10 + me)); \
			armci_msg_sel(&x, (int)sizeof x, "min", constant, 1); \
			expect_##name(&x, w, (type)-5); \
			x = make_##name(me, (type)(me == w ? 99 : me - 10)); \
			armci_msg_sel_scope(SCOPE_ALL, &x, (int)sizeof x, "max", constant, 1); \
			expect_##name(&x, w, (type)99); \
		} \
	} \
	/* The best value belongs to ranks that do not contribute. */ \
	static void some_##name(void) \
	{ \
		for (int w = 0; w < np; w++) { \
			struct rec_##name x = make_##name(me, \
				(type)(me == w         ? 0 : \
						me % 2 ? 1000 : \
							 -1000)); \
			armci_msg_sel(&x, (int)sizeof x, w % 2 ? "max" : "min", constant, \
				me == w); \
			expect_##name(&x, w, (type)0); \
		} \
	} \
	/* Equal keys; and no rank contributes at all. */ \
	static void tie_##name(void) \
	{ \
		struct rec_##name x = make_##name(me, (type)3); \
		armci_msg_sel(&x, (int)sizeof x, "max", constant, me != 0 || np == 1); \
		expect_##name(&x, np > 1, (type)3); \
		x = make_##name(me, (type)4); \
		armci_msg_sel(&x, (int)sizeof x, "min", constant, 0); \
		expect_##name(&x, me, (type)4); \
	} \
	static void run_##name(void) \
	{ \
		all_##name(); \
		some_##name(); \
		tie_##name(); \
	}

SEL(int, int, ARMCI_INT)
SEL(long, long, ARMCI_LONG)
SEL(llong, long long, ARMCI_LONG_LONG)
SEL(float, float, ARMCI_FLOAT)
SEL(double, double, ARMCI_DOUBLE)

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	run_int();
	run_long();
	run_llong();
	run_float();
	run_double();
	return check_end("sel");
}
