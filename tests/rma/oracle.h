// SPDX-License-Identifier: BSD-3-Clause
// oracle.h - what every predefined operator does to every predefined C type, in plain C: the tests
// of accumulates compare with it. It must call no function of MPI's one-sided communication.
#ifndef ORACLE_H
#define ORACLE_H

#include "check.h"

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

enum oracle_op {
	O_SUM,
	O_PROD,
	O_MAX,
	O_MIN,
	O_LAND,
	O_LOR,
	O_LXOR,
	O_BAND,
	O_BOR,
	O_BXOR,
	O_MAXLOC,
	O_MINLOC,
	O_REPLACE,
	O_NO_OP,
	O_OPS
};

static const char *const oracle_name[O_OPS] = {"SUM", "PROD", "MAX", "MIN", "LAND", "LOR", "LXOR",
	"BAND", "BOR", "BXOR", "MAXLOC", "MINLOC", "REPLACE", "NO_OP"};

static inline MPI_Op oracle_op(int op)
{
	const MPI_Op ops[O_OPS] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND, MPI_LOR, MPI_LXOR,
		MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
	return ops[op];
}

// Which operators a type has, as bits.
#define BIT(op)     (1u << (op))
#define OPS_ANY     (BIT(O_REPLACE) | BIT(O_NO_OP))
#define OPS_LOGICAL (BIT(O_LAND) | BIT(O_LOR) | BIT(O_LXOR))
#define OPS_BITS    (BIT(O_BAND) | BIT(O_BOR) | BIT(O_BXOR))
#define OPS_COMPLEX (BIT(O_SUM) | BIT(O_PROD))
#define OPS_FLOAT   (OPS_COMPLEX | BIT(O_MAX) | BIT(O_MIN))
#define OPS_INTEGER (OPS_FLOAT | OPS_LOGICAL | OPS_BITS)
#define OPS_LOC     (BIT(O_MAXLOC) | BIT(O_MINLOC))

struct oracle {
	const char *name;
	MPI_Datatype type;
	size_t size;   // bytes in memory
	size_t bytes;  // bytes from the first on that are compared: without padding
	size_t gap;    // of pairs: where padding inside begins
	size_t gap_end;
	unsigned ops;
	// target = origin op target, one element
	void (*apply)(int op, void *target, const void *origin);
	void (*set)(void *element, int small);                   // a small number: 0 <= small < 128
};

// The operators of a type one after another, by the C operator of each.
#define SUMS(t, o) \
	case O_SUM: t = t + o; break; \
	case O_PROD: t = t * o; break;
#define ORDERS(t, o) \
	case O_MAX: t = o > t ? o : t; break; \
	case O_MIN: t = o < t ? o : t; break;
#define LOGIC(t, o) \
	case O_LAND: t = o && t; break; \
	case O_LOR: t = o || t; break; \
	case O_LXOR: t = !o != !t; break;
#define BITS(t, o) \
	case O_BAND: t = o & t; break; \
	case O_BOR: t = o | t; break; \
	case O_BXOR: t = o ^ t; break;

#define APPLY(name, ctype, cases) \
	static void apply_##name(int op, void *target, const void *origin) \
	{ \
		ctype t, o; \
		memcpy(&t, target, sizeof t); \
		memcpy(&o, origin, sizeof o); \
		switch (op) { \
			cases \
		case O_REPLACE: t = o; break; \
		} \
		memcpy(target, &t, sizeof t); \
	}
#define SET(name, ctype, expression) \
	static void set_##name(void *element, int small) \
	{ \
		ctype value = (ctype)(expression); \
		memset(element, 0, sizeof value); \
		memcpy(element, &value, sizeof value); \
	}

// X(name, C type, MPI type)
#define INTEGERS(X) \
	X(schar, signed char, MPI_SIGNED_CHAR) \
	X(uchar, unsigned char, MPI_UNSIGNED_CHAR) X(sshort, short, MPI_SHORT) X(ushort_, \
		unsigned short, MPI_UNSIGNED_SHORT) X(sint, int, MPI_INT) X(uint_, unsigned, \
		MPI_UNSIGNED) X(slong, long, MPI_LONG) X(ulong_, unsigned long, MPI_UNSIGNED_LONG) \
		X(sllong, long long, MPI_LONG_LONG) X(ullong, unsigned long long, \
			MPI_UNSIGNED_LONG_LONG) X(i8, int8_t, MPI_INT8_T) X(i16, int16_t, \
			MPI_INT16_T) X(i32, int32_t, MPI_INT32_T) X(i64, int64_t, MPI_INT64_T) \
			X(u8, uint8_t, MPI_UINT8_T) X(u16, uint16_t, MPI_UINT16_T) \
				X(u32, uint32_t, MPI_UINT32_T) X(u64, uint64_t, MPI_UINT64_T) \
					X(aint, MPI_Aint, MPI_AINT) \
						X(offset, MPI_Offset, MPI_OFFSET) \
							X(mcount, MPI_Count, MPI_COUNT)
#define FLOATS(X) X(flt, float, MPI_FLOAT) X(dbl, double, MPI_DOUBLE)
#define COMPLEXES(X) \
	X(cflt, float complex, MPI_C_FLOAT_COMPLEX) X(cdbl, double complex, MPI_C_DOUBLE_COMPLEX)
#define PAIRS(X) \
	X(pfloat, float, MPI_FLOAT_INT) \
	X(pdouble, double, MPI_DOUBLE_INT) X(plong, long, MPI_LONG_INT) \
		X(pshort, short, MPI_SHORT_INT) X(pint, int, MPI_2INT) \
			X(pldouble, long double, MPI_LONG_DOUBLE_INT)

// Arithmetic of narrow integers wraps: it is that of int, cut to the type.
#define DEFINE_INTEGER(name, ctype, mtype) \
	APPLY(name, ctype, SUMS(t, o) ORDERS(t, o) LOGIC(t, o) BITS(t, o)) \
	SET(name, ctype, small)
#define DEFINE_FLOAT(name, ctype, mtype) \
	APPLY(name, ctype, SUMS(t, o) ORDERS(t, o)) \
	SET(name, ctype, small - 20)
#define DEFINE_COMPLEX(name, ctype, mtype) \
	APPLY(name, ctype, SUMS(t, o)) \
	SET(name, ctype, small - 9 * I)
#define DEFINE_PAIR(name, ctype, mtype) \
	struct name { \
		ctype value; \
		int index; \
	}; \
	APPLY(name, struct name, case O_MAXLOC \
		: t = o.value > t.value || (o.value == t.value && o.index < t.index) ? o : t; \
		break; case O_MINLOC \
		: t = o.value < t.value || (o.value == t.value && o.index < t.index) ? o : t; \
		break;) \
	static void set_##name(void *element, int small) \
	{ \
		struct name pair; \
		memset(&pair, 0, sizeof pair); \
		pair.value = (ctype)(small / 4); \
		pair.index = small % 4; \
		memcpy(element, &pair, sizeof pair); \
	}
INTEGERS(DEFINE_INTEGER)
FLOATS(DEFINE_FLOAT)
DEFINE_FLOAT(ldbl, long double, MPI_LONG_DOUBLE)
COMPLEXES(DEFINE_COMPLEX)
DEFINE_COMPLEX(cldbl, long double complex, MPI_C_LONG_DOUBLE_COMPLEX)
PAIRS(DEFINE_PAIR)
APPLY(cbool, bool, LOGIC(t, o))
SET(cbool, bool, small % 2)
APPLY(byte, unsigned char, BITS(t, o))
SET(byte, unsigned char, small)
// Types without operators of their own.
APPLY(character, char, )
SET(character, char, small)
APPLY(wide, wchar_t, )
SET(wide, wchar_t, small)

#define ROW(name, ctype, mtype, ops) \
	{NULL, mtype, sizeof(ctype), sizeof(ctype), 0, 0, (ops) | OPS_ANY, apply_##name, \
		set_##name},
#define ROW_INTEGER(name, ctype, mtype) ROW(name, ctype, mtype, OPS_INTEGER)
#define ROW_FLOAT(name, ctype, mtype) ROW(name, ctype, mtype, OPS_FLOAT)
#define ROW_COMPLEX(name, ctype, mtype) ROW(name, ctype, mtype, OPS_COMPLEX)
#define ROW_PAIR(name, ctype, mtype) \
	{NULL, mtype, sizeof(struct name), offsetof(struct name, index) + sizeof(int), \
		sizeof(ctype) == 16 ? 10 : sizeof(ctype), offsetof(struct name, index), \
		OPS_LOC | OPS_ANY, apply_##name, set_##name},

// The table; n is set to its length. A long double has 10 bytes of 16, a complex one two of them.
static inline const struct oracle *oracle_table(int *n)
{
	static struct oracle table[64];
	static char names[64][MPI_MAX_OBJECT_NAME];
	const struct oracle rows[] = {INTEGERS(ROW_INTEGER) FLOATS(ROW_FLOAT) COMPLEXES(
					      ROW_COMPLEX) PAIRS(ROW_PAIR) ROW(cbool, bool,
					      MPI_C_BOOL, OPS_LOGICAL) ROW(byte, unsigned char,
					      MPI_BYTE, OPS_BITS) ROW(character, char, MPI_CHAR, 0)
					      ROW(wide, wchar_t, MPI_WCHAR, 0){NULL,
						      MPI_LONG_DOUBLE, 16, 10, 0, 0,
						      OPS_FLOAT | OPS_ANY, apply_ldbl, set_ldbl},
		{NULL, MPI_C_LONG_DOUBLE_COMPLEX, 32, 26, 10, 16, OPS_COMPLEX | OPS_ANY,
			apply_cldbl, set_cldbl}};
	memcpy(table, rows, sizeof rows);
	*n = (int)(sizeof rows / sizeof rows[0]);
	for (int i = 0, length; i < *n; i++) {
		CHECK_MPI(MPI_Type_get_name(table[i].type, names[i], &length));
		table[i].name = names[i];
	}
#ifdef OPEN_MPI // natively 4.1 ends the job at MINLOC and MAXLOC; over our library they are checked
	for (int i = 0; check_native() && i < *n; i++)
		table[i].ops &= ~(unsigned)OPS_LOC;
#endif
	return table;
}

// n elements must be those that the oracle has; padding is not looked at.
static inline void oracle_check(const struct oracle *o, const void *got, const void *want, int n,
	const char *where)
{
	for (int i = 0; i < n; i++) {
		const unsigned char *g = (const unsigned char *)got + o->size * (size_t)i,
				    *w = (const unsigned char *)want + o->size * (size_t)i;
		for (size_t b = 0; b < o->bytes; b++) {
			if (g[b] != w[b] && !(b >= o->gap && b < o->gap_end))
				check_fail(__FILE__, __LINE__,
					"%s of %s: element %d of %d, byte %zu is 0x%02x, expected "
					"0x%02x",
					where, o->name, i, n, b, g[b], w[b]);
		}
	}
}

#endif
