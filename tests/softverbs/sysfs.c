// SPDX-License-Identifier: BSD-3-Clause
// softverbs-sysfs DIRECTORY ethernet ADDRESS | infiniband LID - makes a directory that looks like
// /sys/class/infiniband/DEVICE, with one port of that IPv4 address or that LID.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *base;

static void fail(const char *what)
{
	fprintf(stderr, "softverbs-sysfs: %s: %s\n", what, strerror(errno));
	exit(1);
}

// Writes a line into a file of the port, whose directories it makes.
static void say(const char *file, const char *format, ...)
{
	char name[PATH_MAX];
	va_list values;
	snprintf(name, sizeof name, "%s/ports/1/%s", base, file);
	for (char *at = name + 1; (at = strchr(at, '/')); *at++ = '/') {
		*at = 0;
		if (mkdir(name, 0755) != 0 && errno != EEXIST)
			fail(name);
	}
	FILE *f = fopen(name, "w");
	if (!f)
		fail(name);
	va_start(values, format);
	vfprintf(f, format, values);
	va_end(values);
	fclose(f);
}

int main(int argc, char **argv)
{
	struct in_addr at;
	if (argc != 4 || (strcmp(argv[2], "ethernet") != 0 && strcmp(argv[2], "infiniband") != 0)) {
		fprintf(stderr,
			"usage: softverbs-sysfs DIRECTORY ethernet ADDRESS | infiniband LID\n");
		return 2;
	}
	base = argv[1];
	say("state", "4: ACTIVE\n");
	if (strcmp(argv[2], "infiniband") == 0) {
		unsigned lid = (unsigned)strtoul(argv[3], NULL, 0);
		say("link_layer", "InfiniBand\n");
		say("lid", "0x%x\n", lid);
		say("gids/0", "fe80:0000:0000:0000:5356:4200:0000:%04x\n", lid);
		say("gid_attrs/types/0", "IB/RoCE v1\n");
		return 0;
	}
	errno = EINVAL;
	if (inet_aton(argv[3], &at) == 0)
		fail(argv[3]);
	unsigned address = ntohl(at.s_addr);
	say("link_layer", "Ethernet\n");
	say("lid", "0x0\n");
	say("gids/0", "0000:0000:0000:0000:0000:ffff:%04x:%04x\n", address >> 16, address & 0xffff);
	say("gid_attrs/types/0", "RoCE v2\n");
	return 0;
}
