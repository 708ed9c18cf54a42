// SPDX-License-Identifier: BSD-3-Clause
// Starts the reporter: writes the section of reporter.c to a memory file as a program, and executes
// it in a session of its own, with only standard error and its connections open. The application
// must not notice: its memory is not copied (no fork), no fork handler runs, no child remains, and
// there is no signal when the reporter ends.
#define _GNU_SOURCE
#include "reporter.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif
#define STACK (64u << 10)
#define AT    0x400000u // address of the program

extern const uint8_t __start_armci_reporter[] __attribute__((visibility("hidden")));
extern const uint8_t __stop_armci_reporter[] __attribute__((visibility("hidden")));
void shm_reporter_entry(void);

// The headers of the executable, in front of its code.
struct image {
	Elf64_Ehdr head;
	Elf64_Phdr code, stack;
};

// reporter_file returns a memory file with the reporter as an executable; -1: the system refuses
// it.
static int reporter_file(void)
{
	uint64_t bytes = (uint64_t)(__stop_armci_reporter - __start_armci_reporter);
	struct image i = {
		.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				 EV_CURRENT},
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct image, code),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 2},
		.code = {.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_vaddr = AT,
			.p_paddr = AT,
			.p_align = 4096},
		.stack = {.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W},
	};
	i.head.e_entry = AT + sizeof i +
		((uint64_t)(uintptr_t)shm_reporter_entry -
			(uint64_t)(uintptr_t)__start_armci_reporter);
	i.code.p_filesz = i.code.p_memsz = sizeof i + bytes;
	int fd = memfd_create("armci-reporter", MFD_CLOEXEC | MFD_EXEC);
	if (fd < 0 && errno == EINVAL) // before Linux 6.3
		fd = memfd_create("armci-reporter", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (write(fd, &i, sizeof i) != (ssize_t)sizeof i ||
		write(fd, __start_armci_reporter, bytes) != (ssize_t)bytes) {
		close(fd);
		return -1;
	}
	return fd;
}

// Data of the two short-lived processes. They share the memory of this process: its thread waits
// for them.
struct starting {
	char **argv, **environment;
	const int *given;
	int n, program;
	int *spare; // [n]: unused descriptors above those of the reporter
	uint8_t *stack; // two of them
	int error;
};

// arrange_descriptors makes the given descriptors 3, 4, ...; exec closes all others but standard
// error.
static int arrange_descriptors(struct starting *s)
{
	int first = 3 + s->n;
	if ((s->program = fcntl(s->program, F_DUPFD_CLOEXEC, first)) < 0)
		return -1;
	for (int i = 0; i < s->n; i++)
		if ((s->spare[i] = fcntl(s->given[i], F_DUPFD_CLOEXEC, first)) < 0)
			return -1;
	for (int i = 0; i < s->n; i++)
		if (dup2(s->spare[i], 3 + i) < 0)
			return -1;
	close(0);
	close(1);
	return (int)syscall(SYS_close_range, first, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
}

static int become_reporter(void *arg)
{
	struct starting *s = arg;
	syscall(SYS_execveat, s->program, "", s->argv, s->environment, AT_EMPTY_PATH);
	s->error = errno;
	_exit(1);
}

// start_detached starts the reporter as its child and exits, so that this process is not the
// parent.
static int start_detached(void *arg)
{
	struct starting *s = arg;
	if (setsid() < 0 || chdir("/") != 0 || arrange_descriptors(s) != 0 ||
	    clone(become_reporter, s->stack + 2 * STACK, CLONE_VM | CLONE_VFORK, s) < 0)
		s->error = errno;
	_exit(0);
}

// launch_detached clones start_detached with all signals blocked, and waits for its end.
static void launch_detached(struct starting *s)
{
	sigset_t all, before;
	sigfillset(&all); // no handler may run on these stacks; the reporter keeps them blocked
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = clone(start_detached, s->stack + STACK, CLONE_VM | CLONE_VFORK, s);
	if (pid < 0)
		s->error = errno;
	while (pid > 0 && waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR) {
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int shm_reporter_start(char **argv, char **environment, int n, const int *given)
{
	struct starting s = {.argv = argv, .environment = environment, .given = given, .n = n,
		.program = reporter_file(), .spare = calloc((size_t)n, sizeof(int)),
		.stack = malloc(2 * STACK)};
	int file = s.program;
	if (file < 0 || !s.spare || !s.stack)
		s.error = errno;
	else
		launch_detached(&s);
	if (file >= 0)
		close(file);
	free(s.spare);
	free(s.stack);
	errno = s.error;
	return s.error ? -1 : 0;
}

#else

int shm_reporter_start(char **argv, char **environment, int n, const int *given)
{
	errno = ENOSYS;
	return -1;
}

#endif
