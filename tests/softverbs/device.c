// SPDX-License-Identifier: BSD-3-Clause
// The devices there are: those of a directory that looks like /sys/class/infiniband
// (SOFTVERBS_SYSFS, ARMCI_RDMA_SYSFS), which softverbs-sysfs makes. Each has one port; its
// addresses are what others reach it by.
#define _GNU_SOURCE
#include "softverbs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_get_device_list

static struct device *known; // devices stay

static const char *directory(void)
{
	const char *name = getenv("SOFTVERBS_SYSFS");
	return name && *name ? name : getenv("ARMCI_RDMA_SYSFS");
}

// The first line of a file of a port.
static bool read_line(const char *device, const char *file, char line[128])
{
	char name[PATH_MAX];
	snprintf(name, sizeof name, "%s/%s/ports/1/%s", directory(), device, file);
	FILE *f = fopen(name, "re");
	bool ok = f && fgets(line, 128, f);
	if (f)
		fclose(f);
	return ok;
}

static bool read_address(const char *device, int i, union ibv_gid *out)
{
	char file[32], line[128];
	unsigned part[8];
	snprintf(file, sizeof file, "gids/%d", i);
	if (!read_line(device, file, line) ||
		sscanf(line, "%4x:%4x:%4x:%4x:%4x:%4x:%4x:%4x", &part[0], &part[1], &part[2],
			&part[3], &part[4], &part[5], &part[6], &part[7]) != 8)
		return false;
	for (int k = 0; k < 8; k++) {
		out->raw[2 * k] = (uint8_t)(part[k] >> 8);
		out->raw[2 * k + 1] = (uint8_t)part[k];
	}
	return true;
}

static void describe(struct device *d)
{
	char line[128];
	const char *name = d->device.name;
	d->link = read_line(name, "link_layer", line) && strncmp(line, "InfiniBand", 10) == 0 ?
		IBV_LINK_LAYER_INFINIBAND :
		IBV_LINK_LAYER_ETHERNET;
	d->lid = read_line(name, "lid", line) ? (uint16_t)strtoul(line, NULL, 0) : 0;
	for (d->addresses = 0; d->addresses < ADDRESSES; d->addresses++) {
		char file[48];
		if (!read_address(name, d->addresses, &d->address[d->addresses]))
			break;
		snprintf(file, sizeof file, "gid_attrs/types/%d", d->addresses);
		d->roce1[d->addresses] = read_line(name, file, line) &&
			strncmp(line, "IB/RoCE v1", 10) == 0;
	}
}

static struct device *device_of(const char *name)
{
	for (struct device *d = known; d; d = d->next)
		if (strcmp(d->device.name, name) == 0) {
			describe(d);
			return d;
		}
	struct device *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	d->device.node_type = IBV_NODE_CA;
	d->device.transport_type = IBV_TRANSPORT_IB;
	snprintf(d->device.name, sizeof d->device.name, "%.60s", name);
	// UCX wants a character device of this name in /dev/infiniband (with.sh).
	snprintf(d->device.dev_name, sizeof d->device.dev_name, "../null");
	d->next = known;
	known = d;
	describe(d);
	return d;
}

struct ibv_device **ibv_get_device_list(int *n)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	enum { MOST = 16 };
	struct ibv_device **list = calloc(MOST + 1, sizeof *list);
	int found = 0;
	DIR *all = list && directory() ? opendir(directory()) : NULL;
	pthread_mutex_lock(&lock);
	for (struct dirent *e; all && found < MOST && (e = readdir(all));)
		if (e->d_name[0] != '.')
			list[found++] = &device_of(e->d_name)->device;
	pthread_mutex_unlock(&lock);
	if (all)
		closedir(all);
	if (n)
		*n = found;
	return list;
}

void ibv_free_device_list(struct ibv_device **list) { free(list); }
const char *ibv_get_device_name(struct ibv_device *device) { return device->name; }
int ibv_get_device_index(struct ibv_device *device) { return (void)device, -1; }
__be64 ibv_get_device_guid(struct ibv_device *device) { return (void)device, 0x0100000000534256; }
