// SPDX-License-Identifier: BSD-3-Clause
// Shared by the C and Go parts of crash reports: the record that the signal handler fills and Go
// prints.
#ifndef GUEST_CRASH_H
#define GUEST_CRASH_H

#include <stddef.h>
#include <stdint.h>

enum { CRASH_FRAMES = 64, CRASH_WORDS = 2048 };

// One crash. stack is a copy of the stack from the stack pointer on: Go has no unwind tables, so
// unwinding ends there, and the C functions that have called Go are found in the copy.
struct crash_record {
	int signal, frames, words;
	uintptr_t address;
	uintptr_t pc[CRASH_FRAMES]; // address of the crash, then return addresses
	uintptr_t stack[CRASH_WORDS];
};
extern struct crash_record crash;

// Which code an address belongs to.
enum { CRASH_NOWHERE, CRASH_C, CRASH_GO, CRASH_LIBC, CRASH_NETWORK, CRASH_OTHER };
int crash_owner(uintptr_t pc);

void crash_begin(void); // when Go has installed its handlers, and before it runs
void crash_install(int wake, uintptr_t go_from, uintptr_t go_to); // wake: eventfd that Go reads
void crash_identify(const char *prefix);                           // prefix of this rank's lines
// Ranges of equal size that are memory of other processes: range i of the owner whose[i]; NULL: of
// this process.
void crash_ranges(uintptr_t lo, uintptr_t bytes, int ranges, const char **whose);
void crash_heard(void);                                            // Go is able to print it
void crash_told(void);                                             // Go has printed the record
// is there a call instruction right before pc?
int crash_after_call(uintptr_t pc);
// exported function that holds pc
int crash_symbol(uintptr_t pc, char *name, size_t size);
int crash_callers(uintptr_t *words, int most);                     // copies the caller's stack
// address of the last fault in Go code
uintptr_t crash_fault(void);
// ends the process as the signal would
void crash_end(int sig);

#endif
