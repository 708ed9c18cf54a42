// dlopen.c - the library may be loaded at run time: opened by path, used through looked-up names,
// and asked to close. It must not be linked against the library, or it would show nothing; it is
// not promised that closing unloads it. SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void *find(const char *name)
{
	void *symbol = dlsym(library, name);
	if (symbol == NULL) {
		fprintf(stderr, "dlsym %s: %s\n", name, dlerror());
		exit(1);
	}
	return symbol;
}

static void want(const char *what, long got, long expected)
{
	if (got != expected) {
		fprintf(stderr, "%s: %ld, expected %ld\n", what, got, expected);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (library == NULL) {
		fprintf(stderr, "dlopen: %s\n", argc > 1 ? dlerror() : "no path given");
		return 1;
	}
	int (*init)(void) = (int (*)(void))find("ARMCI_Init");
	int (*allocate)(void **, long) = (int (*)(void **, long))find("ARMCI_Malloc");
	int (*release)(void *) = (int (*)(void *))find("ARMCI_Free");
	int (*put)(void *, void *, int, int) = (int (*)(void *, void *, int, int))find("ARMCI_Put");
	int (*get)(void *, void *, int, int) = (int (*)(void *, void *, int, int))find("ARMCI_Get");
	int (*size)(void) = (int (*)(void))find("armci_msg_nproc");
	int (*end)(void) = (int (*)(void))find("ARMCI_Finalize");

	char text[] = "through a looked-up name", back[sizeof text] = "";
	void *base[1] = { NULL };
	want("ARMCI_Init", init(), 0);
	want("armci_msg_nproc", size(), 1);
	want("ARMCI_Malloc", allocate(base, sizeof text), 0);
	want("ARMCI_Put", put(text, base[0], sizeof text, 0), 0);
	want("ARMCI_Get", get(base[0], back, sizeof text, 0), 0);
	want("the bytes read back", memcmp(text, back, sizeof text), 0);
	want("ARMCI_Free", release(base[0]), 0);
	end();
	want("dlclose", dlclose(library), 0);
	puts("ok dlopen");
	return 0;
}
