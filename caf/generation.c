/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which generation of gfortran has compiled the program: the same functions have other arguments
 * from GCC 16 on. Compilers leave their version in the section .comment of an object. Others than
 * the Fortran compiler do, too, as those of the C library; but functions that access other images'
 * memory have other names up to gfortran 14.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "caf.h"

enum { UNKNOWN, OLD, NEW };
static int generation;

/* Major version in the newest "GCC: (...) N.x" of a section. */
static int newest_gcc(const char *text, size_t length)
{
	int newest = 0;
	for (const char *p = text, *end = text + length; p < end;
		p += strnlen(p, (size_t)(end - p)) + 1) {
		const char *close = memchr(p, ')', strnlen(p, (size_t)(end - p)));
		if (end - p < 5 || memcmp(p, "GCC: ", 5) != 0 || !close)
			continue;
		int version = 0;
		for (const char *d = close + 1; d < end && (*d == ' ' || (*d >= '0' && *d <= '9'));
			d++)
			if (*d != ' ')
				version = version * 10 + (*d - '0');
		if (version > newest)
			newest = version;
	}
	return newest;
}

static bool holds(const char *text, size_t length, const char *name)
{
	return memmem(text, length, name, strlen(name) + 1) != NULL;
}

static const char *const old_names[] = {"_gfortran_caf_get", "_gfortran_caf_send",
	"_gfortran_caf_sendget", "_gfortran_caf_get_by_ref", "_gfortran_caf_send_by_ref",
	"_gfortran_caf_sendget_by_ref", NULL};

static int judge(const char *file, size_t bytes)
{
	const ElfW(Ehdr) *h = (const void *)file;
	if (bytes < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
		h->e_shentsize != sizeof(ElfW(Shdr)) || h->e_shoff > bytes ||
		(bytes - h->e_shoff) / sizeof(ElfW(Shdr)) < h->e_shnum ||
		h->e_shstrndx >= h->e_shnum)
		return OLD;
	const ElfW(Shdr) *s = (const void *)(file + h->e_shoff), *names = &s[h->e_shstrndx];
	int version = 0;
	bool up_to_14 = false;
	for (int i = 0; i < h->e_shnum; i++) {
		if (s[i].sh_type == SHT_NOBITS || s[i].sh_offset > bytes ||
			s[i].sh_size > bytes - s[i].sh_offset || names->sh_offset > bytes ||
			s[i].sh_name >= bytes - names->sh_offset)
			continue;
		const char *name = file + names->sh_offset + s[i].sh_name,
			   *data = file + s[i].sh_offset;
		size_t room = bytes - names->sh_offset - s[i].sh_name;
		if (strncmp(name, ".comment", room) == 0)
			version = newest_gcc(data, s[i].sh_size);
		for (const char *const *old = old_names;
			strncmp(name, ".dynstr", room) == 0 && *old; old++)
			up_to_14 |= holds(data, s[i].sh_size, *old);
	}
	return version >= 16 && !up_to_14 ? NEW : OLD;
}

static int read_program(void)
{
	int found = OLD, fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd < 0) /* /proc is not mounted */
		fd = open((const char *)getauxval(AT_EXECFN), O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
		size_t bytes = (size_t)st.st_size;
		void *file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file != MAP_FAILED) {
			found = judge(file, bytes);
			munmap(file, bytes);
		}
	}
	if (fd >= 0)
		close(fd);
	return found;
}

bool caf_gfortran_16(void)
{
	if (generation == UNKNOWN)
		generation = read_program();
	return generation == NEW;
}

void caf_seen_gfortran_16(void) { generation = NEW; }
