// SPDX-License-Identifier: BSD-3-Clause
// The stack of a crash: where it was, the frames from there outwards, and a copy of the words.
// Everything here may run in a signal handler, once the unwinder is loaded.
#define _GNU_SOURCE
#include "stack.h"

#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

size_t crash_stack(uintptr_t sp, uintptr_t *words, size_t most)
{
	struct iovec to = {words, most * sizeof *words}, from = {(void *)sp, most * sizeof *words};
	// unlike memcpy, it stops at the end of the stack
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	return n < 0 ? 0 : (size_t)n / sizeof *words;
}

int crash_callers(uintptr_t *words, int most)
{
	return (int)crash_stack((uintptr_t)__builtin_frame_address(0), words, (size_t)most);
}

uintptr_t crash_pc(const ucontext_t *u)
{
#if defined(__x86_64__)
	return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__powerpc64__)
	return (uintptr_t)u->uc_mcontext.gp_regs[PT_NIP];
#elif defined(__riscv)
	return (uintptr_t)u->uc_mcontext.__gregs[REG_PC];
#else
	return (uintptr_t)u->uc_mcontext.pc;
#endif
}

uintptr_t crash_sp(const ucontext_t *u)
{
#if defined(__x86_64__)
	return (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
#elif defined(__powerpc64__)
	return (uintptr_t)u->uc_mcontext.gp_regs[PT_R1];
#elif defined(__riscv)
	return (uintptr_t)u->uc_mcontext.__gregs[REG_SP];
#else
	return (uintptr_t)u->uc_mcontext.sp;
#endif
}

int crash_unwind(uintptr_t *pc, int most, const ucontext_t *u)
{
	void *all[CRASH_FRAMES + 8];
	int n = backtrace(all, CRASH_FRAMES + 8), skip = 0;
	while (skip < n && (uintptr_t)all[skip] != crash_pc(u)) skip++;
	if (skip == n) { // a jump to an invalid address: the return address is on top of the stack
		pc[0] = crash_pc(u);
		return crash_stack(crash_sp(u), &pc[1], 1) ? 2 : 1;
	}
	n = n - skip < most ? n - skip : most;
	memcpy(pc, &all[skip], (size_t)n * sizeof *pc);
	return n;
}

bool crash_inside(const uintptr_t *pc, int n)
{
	int i = 0;
	while (i < n &&
		(crash_owner(pc[i]) == CRASH_LIBC || crash_owner(pc[i]) == CRASH_NETWORK ||
			(i == 0 && crash_owner(pc[i]) == CRASH_NOWHERE)))
		i++;
	return i < n && (crash_owner(pc[i]) == CRASH_C || crash_owner(pc[i]) == CRASH_GO);
}
