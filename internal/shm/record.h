// SPDX-License-Identifier: BSD-3-Clause
// record.h - a raiser's record of a count that its device writes at another node. A device wakes no
// waiter, so a waiter leaves a mark in the record before it sleeps: the count that it waits for.
// The raiser sends the count to a waiter that has left a mark.
#ifndef ARMCI_SHM_RECORD_H
#define ARMCI_SHM_RECORD_H

// record_mark is the mark of a waiter: twice the count that it waits for, and one. 0 is no mark.
static inline uint32_t record_mark(uint32_t want) { return want << 1 | 1; }

// record_reaches reports whether a count is at least that of a mark. Counts wrap around.
static inline bool record_reaches(uint32_t count, uint32_t mark)
{
	return (int32_t)(record_mark(count) - mark) >= 0;
}

// record_sent stores the count that the device was asked to write. True: a waiter has left a mark,
// and the caller must send it the count. The mark stays until its own count is sent: a waiter may
// see a count, and leave a mark for the next one, before the raiser has called record_sent.
//
// Each side stores its own word before it reads the other's, so that at least one sees both.
static inline bool record_sent(shm_u32 *sent, shm_u32 *marked, uint32_t count)
{
	atomic_store(sent, count);
	uint32_t mark = atomic_load(marked);
	if (mark && record_reaches(count, mark))
		atomic_compare_exchange_strong(marked, &mark, 0); // fails where a later mark came
	return mark != 0;
}

// record_ask leaves a waiter's mark, unless there is a mark for the same count or a later one.
// True: the count has been sent already, and no mark of this waiter stays.
static inline bool record_ask(shm_u32 *sent, shm_u32 *marked, uint32_t want)
{
	uint32_t mark = record_mark(want), old = atomic_load(marked);
	bool left = false;
	while (!left && !(old && record_reaches(old >> 1, mark)))
		left = atomic_compare_exchange_weak(marked, &old, mark);
	if (!record_reaches(atomic_load(sent), mark))
		return false;
	return !left || atomic_compare_exchange_strong(marked, &mark, 0);
}

#endif
