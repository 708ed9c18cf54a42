/* SPDX-License-Identifier: BSD-3-Clause */
/* mpp/shmemx.h: the older place of shmemx.h, deprecated. */
#include "../shmemx.h"
