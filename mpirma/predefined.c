// SPDX-License-Identifier: BSD-3-Clause
// Predefined datatypes and operators of all ABIs: which handle means which type and operator of
// kernel/update.h. It must not call MPI: handles are known before MPI_Init.
#include "predefined.h"

#include "../internal/kernel/update.h"
#include "abi_values.h"

#include <float.h>

// 1 where a Fortran REAL*16 is a C long double.
enum { QUAD_IS_LONG_DOUBLE = LDBL_MANT_DIG == 113 };

// A handle in each ABI; 0: the MPI has none.
struct named {
	const char *object; // of Open MPI
	uint32_t mpich, standard;
	int meaning; // enum type_class, enum k_update_op
};
#define NAMED(meaning, name, open, mpich, standard) { #open, (uint32_t)mpich, standard, meaning },
static const struct named named_types[] = {
	ABI_TYPES(NAMED) ABI_TYPES_NOT_MPICH(NAMED) ABI_TYPES_OPEN(NAMED)
};
static const struct named named_ops[] = { ABI_OPS(NAMED) };

enum {
	TYPES = sizeof named_types / sizeof named_types[0],
	OPS = sizeof named_ops / sizeof named_ops[0]
};
static handle types[TYPES];

// A hash table of operators, which every accumulate asks. A search ends at a key of 0, at the
// latest at the last.
enum { OP_BITS = 6, OP_SLOTS = 1 << OP_BITS };
static struct {
	handle key;
	int op;
} ops[OP_SLOTS + OPS + 1];

static size_t op_place(handle op)
{
	return (size_t)((uint64_t)op * 0x9e3779b97f4a7c15u >> (64 - OP_BITS));
}

static void enter_op(handle op, int meaning)
{
	size_t i = op_place(op);
	while (ops[i].key && ops[i].key != op)
		i++;
	ops[i].key = op;
	ops[i].op = meaning;
}

static handle handle_of(const struct named *n)
{
	switch (abi.flavour) {
	case BOOT_MPI_OPEN:     return (handle)real_object(n->object);
	case BOOT_MPI_STANDARD: return n->standard;
	default:                return n->mpich;
	}
}

void predefined_open(void)
{
	for (int i = 0; i < TYPES; i++)
		types[i] = handle_of(&named_types[i]);
	for (int i = 0; i < OPS; i++)
		enter_op(handle_of(&named_ops[i]), named_ops[i].meaning);
}

enum type_class predefined_class(handle type)
{
	for (int i = 0; i < TYPES; i++)
		if (types[i] == type && type)
			return (enum type_class)named_types[i].meaning;
	return TYPE_NONE;
}

int rma_op(handle op)
{
	for (size_t i = op_place(op); ops[i].key; i++)
		if (ops[i].key == op)
			return ops[i].op;
	return -1;
}

// By size: 1, 2, 4, 8 bytes.
static int sized(int64_t size, const int element[4])
{
	for (int i = 0; i < 4; i++)
		if (size == 1 << i)
			return element[i];
	return K_BYTES;
}

int predefined_element(enum type_class class, int64_t size)
{
	static const int ints[] = {K_I8, K_I16, K_I32, K_I64},
			 uints[] = {K_U8, K_U16, K_U32, K_U64},
			 logicals[] = {K_L8, K_L16, K_L32, K_L64},
			 floats[] = {K_BYTES, K_BYTES, K_F32, K_F64},
			 complexes[] = {K_BYTES, K_BYTES, K_C32, K_C64}; // by the size of a part
	switch (class) {
	case TYPE_INT:                 return sized(size, ints);
	case TYPE_UINT:                return sized(size, uints);
	case TYPE_LOGICAL:             return sized(size, logicals);
	case TYPE_FLOAT: return size == 16 && QUAD_IS_LONG_DOUBLE ? K_F80 : sized(size, floats);
	case TYPE_COMPLEX:
		return size == 32 && QUAD_IS_LONG_DOUBLE ? K_C80 : sized(size / 2, complexes);
	case TYPE_LONG_DOUBLE:         return K_F80;
	case TYPE_LONG_DOUBLE_COMPLEX: return K_C80;
	case TYPE_BOOL:                return K_BOOL;
	case TYPE_PAIR_F32:            return K_F32_I;
	case TYPE_PAIR_F64:            return K_F64_I;
	case TYPE_PAIR_LONG:           return K_L_I;
	case TYPE_PAIR_I16:            return K_I16_I;
	case TYPE_PAIR_F80:            return K_F80_I;
	case TYPE_2INT:                return size == 8 ? K_2I : size == 16 ? K_2I64 : K_BYTES;
	case TYPE_2FLOAT:              return size == 8 ? K_2F32 : size == 16 ? K_2F64 : K_BYTES;
	default:                       return K_BYTES;
	}
}
