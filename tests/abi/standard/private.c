// SPDX-License-Identifier: BSD-3-Clause
// private.c - runs a program of windows, built as a library, with its MPI where the rest of the
// process does not see it, as Python loads a module. The libraries before it are loaded first, in
// the same way: those of an MPI's own ABI, which another module may have. It calls no MPI.
//
//   private LIBRARY... PROGRAM
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *loaded = NULL;
	for (int i = 1; i < argc; i++) {
		loaded = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		if (!loaded) {
			fprintf(stderr, "private: %s\n", dlerror());
			return 2;
		}
	}
	union { void *data; int (*code)(int, char **); } program = { NULL };
	if (loaded)
		program.data = dlsym(loaded, "main");
	if (!program.data) {
		fprintf(stderr, "private: no program with a main\n");
		return 2;
	}
	char *arguments[] = { argv[0], NULL };
	return program.code(1, arguments);
}
