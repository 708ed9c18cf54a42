/*
 * cpu.h - what differs between processors, and is not left to the compiler. Must not hold code that
 * works on all of them.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Order of memory is written in C11 atomics everywhere (docs/memory-model.md); only the pause of a
 * polling loop has no standard form.
 */
#ifndef LIBARMCI_KERNEL_CPU_H
#define LIBARMCI_KERNEL_CPU_H

/* cpu_relax tells the processor that the caller polls: it saves power, and lets the other thread of
 * a core run. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	/* yield does nothing on most cores; this takes about as long as x86's pause */
	__asm__ volatile("isb" ::: "memory");
#elif defined(__powerpc64__)
	__asm__ volatile("or 1,1,1\n\tor 2,2,2" ::: "memory"); /* low priority, then normal again */
#elif defined(__riscv)
	/* pause, a hint where it is not known */
	__asm__ volatile(".insn i 0x0f, 0, x0, x0, 0x010" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

#endif
