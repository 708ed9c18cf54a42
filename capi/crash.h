// SPDX-License-Identifier: BSD-3-Clause
// What the C and Go halves of the crash report share: the record that the signal handler fills and Go prints.
#ifndef ARMCI_CRASH_H
#define ARMCI_CRASH_H

#include <stddef.h>
#include <stdint.h>

enum { CRASH_FRAMES = 64, CRASH_WORDS = 2048 };

// One crash. stack is a copy of what lies above the stack pointer: where unwinding ends at Go, which has no unwind
// tables, the C functions that called Go are found in it.
struct crash_record {
	int signal, frames, words;
	uintptr_t address;
	uintptr_t pc[CRASH_FRAMES]; // the place of the crash, then return addresses
	uintptr_t stack[CRASH_WORDS];
};
extern struct crash_record crash;

// Whose code an address is in.
enum { CRASH_NOWHERE, CRASH_C, CRASH_GO, CRASH_LIBC, CRASH_OTHER };
int crash_owner(uintptr_t pc);

void crash_install(int wake, uintptr_t go_from, uintptr_t go_to); // wake: eventfd that Go reads
void crash_identify(const char *prefix);                           // how lines of this rank begin
void crash_told(void);                                             // Go has printed the record
int crash_after_call(uintptr_t pc);                                // is there a call instruction right before pc?
int crash_symbol(uintptr_t pc, char *name, size_t size);           // exported function that holds pc
int crash_callers(uintptr_t *words, int most);                     // copies the caller's stack
uintptr_t crash_fault(void);                                       // address of the last fault in Go code
void crash_end(int sig);                                           // ends the process as the signal would

#endif
