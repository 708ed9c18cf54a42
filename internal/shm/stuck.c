// SPDX-License-Identifier: BSD-3-Clause
// Connects the C waiters with the Go function that knows which ranks have left.
#include "_cgo_export.h"
#include "shm.h"

static void stuck(const char *what, int peer) { armcigo_stuck((char *)what, peer); }

void shm_install_stuck(void) { shm.stuck = stuck; }
