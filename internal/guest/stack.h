// SPDX-License-Identifier: BSD-3-Clause
// What the signal handler of crash.c asks of stack.c about the stack of a crash.
#ifndef GUEST_STACK_H
#define GUEST_STACK_H

#include "crash.h"

#include <stdbool.h>
#include <ucontext.h>

uintptr_t crash_pc(const ucontext_t *u); // program counter
uintptr_t crash_sp(const ucontext_t *u); // stack pointer
// Copies the stack from sp on, as far as it goes; returns how many words that are.
size_t crash_stack(uintptr_t sp, uintptr_t *words, size_t most);
// The frames from the crash outwards, without those of the handler that calls it.
int crash_unwind(uintptr_t *pc, int most, const ucontext_t *u);
// From the crash outwards, is the first frame outside the C library, and outside a network's
// library, in this library?
bool crash_inside(const uintptr_t *pc, int n);

#endif
