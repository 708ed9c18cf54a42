/* SPDX-License-Identifier: BSD-3-Clause */
/* pshmem.h: the names of the profiling interface, which shmem.h declares too. */
#ifndef PSHMEM_H_
#define PSHMEM_H_

#include "shmem.h"

#endif
