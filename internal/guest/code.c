// SPDX-License-Identifier: BSD-3-Clause
// Which code is at an address: this library's C, its Go, the C library's, a network's, or other.
// The ranges are determined once, at initialisation, so that a signal handler may look them up;
// only the search for other objects may not run in a handler.
#define _GNU_SOURCE
#include "crash.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

struct range {
	uintptr_t from, to;
};
static struct range library, go_code, libc;

// Of a C library since 2.35: the object at an address, safe in a signal handler; else NULL.
static int (*object_at)(void *address, struct dl_find_object *result);

static int inside(uintptr_t pc, struct range r) { return pc >= r.from && pc < r.to; }

struct search {
	uintptr_t address;
	struct range found; // the executable segment that holds it
};

static int look(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct search *s = arg;
	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];
		struct range r = {object->dlpi_addr + p->p_vaddr,
			object->dlpi_addr + p->p_vaddr + p->p_memsz};
		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && inside(s->address, r)) {
			s->found = r;
			return 1;
		}
	}
	return 0;
}

static struct range segment_of(uintptr_t address)
{
	struct search s = {.address = address};
	dl_iterate_phdr(look, &s);
	return s.found;
}

void crash_find_code(uintptr_t go_from, uintptr_t go_to)
{
	library = segment_of((uintptr_t)crash_find_code);
	libc = segment_of((uintptr_t)dlsym(RTLD_NEXT, "gnu_get_libc_version"));
	go_code = (struct range){go_from, go_to};
	void *f = dlsym(RTLD_DEFAULT, "_dl_find_object");
	memcpy(&object_at, &f, sizeof f);
}

// Tells whether an object is of a network: a library that this one calls, or a part that such a
// library has loaded (a verbs driver, a provider).
static int is_network(const char *path)
{
	static const char *const names[] = {"libibverbs.so", "libfabric.so", "libpmi"};
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return 1;
	return strstr(name, "-rdmav") || strstr(path, "/libfabric/");
}

static int in_network(uintptr_t pc)
{
	struct dl_find_object o;
	return object_at && object_at((void *)pc, &o) == 0 && is_network(o.dlfo_link_map->l_name);
}

// Safe in a signal handler. Any other address is CRASH_OTHER.
int crash_owner(uintptr_t pc)
{
	if (inside(pc, go_code))
		return CRASH_GO;
	if (inside(pc, library))
		return CRASH_C;
	if (inside(pc, libc))
		return CRASH_LIBC;
	return pc < 4096 ? CRASH_NOWHERE : in_network(pc) ? CRASH_NETWORK : CRASH_OTHER;
}

// Calls are 5 bytes (e8) or 2 to 8 (ff with the register field 2). Not for signal handlers.
int crash_after_call(uintptr_t pc)
{
	struct range r = segment_of(pc);
	if (r.to == 0 || pc < r.from + 8)
		return 0;
	const uint8_t *p = (const uint8_t *)pc;
#if defined(__x86_64__)
	if (p[-5] == 0xe8)
		return 1;
	for (int n = 2; n <= 7; n++)
		if (p[-n] == 0xff && (p[1 - n] >> 3 & 7) == 2)
			return 1;
	return 0;
#else
	return p != NULL;
#endif
}

int crash_symbol(uintptr_t pc, char *name, size_t size)
{
	Dl_info info;
	ElfW(Sym) *symbol = NULL;
	if (!dladdr1((void *)pc, &info, (void **)&symbol, RTLD_DL_SYMENT) || !info.dli_sname ||
		!symbol || pc >= (uintptr_t)info.dli_saddr + symbol->st_size)
		return 0;
	snprintf(name, size, "%s", info.dli_sname);
	return 1;
}
