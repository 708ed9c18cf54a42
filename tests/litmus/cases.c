// SPDX-License-Identifier: BSD-3-Clause
// All cases. A new one is declared in cases.h, listed here, and its places stand in orders.txt
// (run.sh -update).
#include "cases.h"

const struct litmus *const litmus_cases[] = {&case_lock, &case_lock_sleep, &case_lock_queue,
	&case_lock_next, &case_lock_try, &case_lock_soon, &case_rwlock, &case_rwlock_reader,
	&case_rwlock_writer, &case_rwlock_word_read, &case_rwlock_word_write, &case_stripe,
	&case_barrier, &case_barrier_many, &case_steps, &case_event, &case_notify,
	&case_notify_device, &case_event_device, &case_ring, &case_ring_full, &case_regions,
	&case_declared, &case_contexts, &case_request, &case_put_flag, &case_fence, &case_order,
	NULL};
