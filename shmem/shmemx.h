/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx.h: extensions, of which this library has none; the specification wants the file. */
#ifndef SHMEMX_H_
#define SHMEMX_H_

#include "shmem.h"

#endif
