// SPDX-License-Identifier: BSD-3-Clause
// EACH(M, C, kinds...): M(kind, name) for up to 13 kinds, with C() between; the parameters' names
// count down. Only preprocessor.
#ifndef STANDARD_EACH_H
#define STANDARD_EACH_H

#define EACH_0(M, C)
#define EACH_1(M, C, kind)       M(kind, a1)
#define EACH_2(M, C, kind, ...)  M(kind, a2) C() EACH_1(M, C, __VA_ARGS__)
#define EACH_3(M, C, kind, ...)  M(kind, a3) C() EACH_2(M, C, __VA_ARGS__)
#define EACH_4(M, C, kind, ...)  M(kind, a4) C() EACH_3(M, C, __VA_ARGS__)
#define EACH_5(M, C, kind, ...)  M(kind, a5) C() EACH_4(M, C, __VA_ARGS__)
#define EACH_6(M, C, kind, ...)  M(kind, a6) C() EACH_5(M, C, __VA_ARGS__)
#define EACH_7(M, C, kind, ...)  M(kind, a7) C() EACH_6(M, C, __VA_ARGS__)
#define EACH_8(M, C, kind, ...)  M(kind, a8) C() EACH_7(M, C, __VA_ARGS__)
#define EACH_9(M, C, kind, ...)  M(kind, a9) C() EACH_8(M, C, __VA_ARGS__)
#define EACH_10(M, C, kind, ...) M(kind, a10) C() EACH_9(M, C, __VA_ARGS__)
#define EACH_11(M, C, kind, ...) M(kind, a11) C() EACH_10(M, C, __VA_ARGS__)
#define EACH_12(M, C, kind, ...) M(kind, a12) C() EACH_11(M, C, __VA_ARGS__)
#define EACH_13(M, C, kind, ...) M(kind, a13) C() EACH_12(M, C, __VA_ARGS__)
#define EACH_NTH(a, b, c, d, e, f, g, h, i, j, k, l, m, nth, ...) nth
#define EACH(M, C, ...) \
	EACH_NTH(__VA_ARGS__ __VA_OPT__(, ) EACH_13, EACH_12, EACH_11, EACH_10, EACH_9, EACH_8, \
		EACH_7, EACH_6, EACH_5, EACH_4, EACH_3, EACH_2, EACH_1, EACH_0, ) \
		(M, C __VA_OPT__(, ) __VA_ARGS__)
#define EACH_COMMA()   ,
#define EACH_NOTHING()

#endif
