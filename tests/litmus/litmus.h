// SPDX-License-Identifier: BSD-3-Clause
// What a case of the litmus tests uses: C code of the node, run by two or more ranks in all kinds
// of order that C11 allows (shim.cpp). Ranks share the arena, and nothing else.
#ifndef LITMUS_H
#define LITMUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct litmus {
	const char *name;
	int ranks;                // 2, 3 or 9
	void (*set_up)(void);     // before the ranks start; the arena is empty and attached
	void (*rank)(int me);
	void (*at_end)(void);     // after all have ended; NULL: nothing to check
	int iterations;           // random executions
};
extern const struct litmus *const litmus_cases[]; // ends with NULL

// A failure of the case, unless ok. Deadlocks, endless loops and data races are found without it.
void litmus_expect(const char *what, bool ok);
// Lets the others take up to `steps` steps meanwhile.
void litmus_pause(int steps);
// Memory of the arena for a case's own data.
void *litmus_data(size_t offset);
// Attaches the arena, empty, for so many ranks. shm.me is always that of the rank that runs.
void litmus_attach(int ranks);
bool litmus_in_arena(uintptr_t at);
void litmus_become(int me); // sets shm.me

#ifdef __cplusplus
}
#endif
#endif
