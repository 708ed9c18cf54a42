/* SPDX-License-Identifier: BSD-3-Clause */
/* mpp/shmem.h: the older place of shmem.h, deprecated. */
#include "../shmem.h"
