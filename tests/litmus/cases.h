// SPDX-License-Identifier: BSD-3-Clause
// The cases, by file.
#ifndef LITMUS_CASES_H
#define LITMUS_CASES_H

#include "../../internal/shm/shm.h"
#include "litmus.h"

static inline void nothing(void) {}

// locks.c
extern const struct litmus case_lock, case_lock_sleep, case_lock_queue, case_lock_next,
	case_lock_try, case_lock_soon, case_rwlock, case_rwlock_reader, case_rwlock_writer,
	case_rwlock_word_read, case_rwlock_word_write, case_stripe;
// sync.c
extern const struct litmus case_barrier, case_barrier_many, case_steps, case_event, case_notify,
	case_notify_device, case_event_device, case_ring, case_ring_full;
// tables.c
extern const struct litmus case_regions, case_declared, case_request, case_contexts;
// flags.c
extern const struct litmus case_put_flag, case_fence, case_order;

#endif
