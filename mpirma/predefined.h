// SPDX-License-Identifier: BSD-3-Clause
// Predefined datatypes and operators, by handle. Private to predefined.c and datatype.c.
#ifndef MPIRMA_PREDEFINED_H
#define MPIRMA_PREDEFINED_H

#include "rma.h"

// What a predefined datatype is, whatever its size: a Fortran INTEGER may have 4 bytes or 8.
enum type_class {
	TYPE_NONE, // not a predefined datatype
	TYPE_INT,
	TYPE_UINT,
	TYPE_FLOAT,
	TYPE_LONG_DOUBLE,
	TYPE_COMPLEX,
	TYPE_LONG_DOUBLE_COMPLEX,
	TYPE_BOOL,
	TYPE_LOGICAL,
	TYPE_BYTES,
	TYPE_PAIR_F32,
	TYPE_PAIR_F64,
	TYPE_PAIR_LONG,
	TYPE_PAIR_I16,
	TYPE_PAIR_F80,
	TYPE_2INT,
	TYPE_2FLOAT,
};

// Finds the handles; called by abi_open once the constants are there.
void predefined_open(void);

enum type_class predefined_class(handle type);

// The element type (enum k_update_type) of a class and a size in bytes. K_BYTES where
// kernel/update.h has none, as for REAL*16 on x86: such data can be moved and replaced, but not
// added.
int predefined_element(enum type_class class, int64_t size);

#endif
