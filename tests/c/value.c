// SPDX-License-Identifier: BSD-3-Clause
// value.c - puts and gets of single values passed by value, blocking and nonblocking, at the ends
// of their range.
#include "check.h"
#include <float.h>
#include <limits.h>

// Puts each value in turn at every rank's slot for me and gets it back.
#define ROUND_TRIP(name, type, ...) \
	static void name(void **base) \
	{ \
		const type values[] = {__VA_ARGS__}; \
		armci_hdl_t h; \
		for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) \
			for (int r = 0; r < np; r++) { \
				type *slot = (type *)base[r] + 2 * me; \
				CHECK_OK(PUT_VALUE(name)(values[i], slot, r)); \
				CHECK(GET_VALUE(name)(slot, r) == values[i]); \
				ARMCI_INIT_HANDLE(&h); \
				CHECK_OK(NB_PUT_VALUE( \
					name)(values[i], slot + 1, r, i % 2 ? &h : NULL)); \
				CHECK_OK(i % 2 ? ARMCI_Wait(&h) : ARMCI_WaitProc(r)); \
				CHECK(GET_VALUE(name)(slot + 1, r) == values[i]); \
			} \
		ARMCI_Barrier(); \
		type last = values[sizeof values / sizeof values[0] - 1]; \
		for (int i = 0; i < 2 * np; i++) CHECK(((type *)base[me])[i] == last); \
		ARMCI_Barrier(); \
	}
#define PUT_VALUE(name) ARMCI_PutValue##name
#define GET_VALUE(name) ARMCI_GetValue##name
#define NB_PUT_VALUE(name) ARMCI_NbPutValue##name

ROUND_TRIP(Int, int, 0, 1, -1, INT_MAX, INT_MIN, 12345)
ROUND_TRIP(Long, long, 0, -1, LONG_MAX, LONG_MIN, 1L << 40)
ROUND_TRIP(Float, float, 0, -1.5f, FLT_MAX, -FLT_MIN, 3.25f)
ROUND_TRIP(Double, double, 0, -1.5, DBL_MAX, -DBL_MIN, 1e-300, 2.75)

int main(int argc, char **argv)
{
	check_begin(&argc, &argv);
	void **base = check_malloc((armci_size_t)(2 * sizeof(double)) * np);
	Int(base);
	Long(base);
	Float(base);
	Double(base);
	check_free(base);
	return check_end("value");
}
