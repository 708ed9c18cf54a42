// SPDX-License-Identifier: BSD-3-Clause
// The values of constants in MPI 5's standard ABI, by the order of names.h. Of the stub; compiled
// with include/mpi.h.
#include "names.h"

#include <mpi.h>

#define VALUE(name)    (intptr_t)name,
#define STANDARD(kind) extern const intptr_t standard_##kind[]; \
	const intptr_t standard_##kind[] = { NAMES_##kind(VALUE) };
KINDS(STANDARD)
