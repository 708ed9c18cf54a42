// SPDX-License-Identifier: BSD-3-Clause
// Loads libfabric and calls its few functions that are not entries of tables. It must not know what
// they are used for.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libfabric.h"

static int (*p_getinfo)(uint32_t, const char *, const char *, uint64_t, const struct lf_info *,
	struct lf_info **);
static void (*p_freeinfo)(struct lf_info *);
static struct lf_info *(*p_dupinfo)(const struct lf_info *);
static int (*p_fabric)(struct lf_fabric_attr *, struct lf_fabric **, void *);
static const char *(*p_strerror)(int);
static uint32_t (*p_version)(void);

// Stores the address of a function in a function pointer, by memcpy: C has no cast for that.
static int load_symbol(void *lib, const char *name, const char *version, void *pointer)
{
	void *f = dlvsym(lib, name, version);
	memcpy(pointer, &f, sizeof f);
	return f != NULL;
}

static const char *load(void **lib)
{
	void *l = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!l)
		return "libfabric.so.1 is not installed, or cannot be loaded";
	if (!load_symbol(l, "fi_getinfo", "FABRIC_1.3", &p_getinfo) ||
		!load_symbol(l, "fi_freeinfo", "FABRIC_1.3", &p_freeinfo) ||
		!load_symbol(l, "fi_dupinfo", "FABRIC_1.3", &p_dupinfo) ||
		!load_symbol(l, "fi_fabric", "FABRIC_1.1", &p_fabric) ||
		!load_symbol(l, "fi_strerror", "FABRIC_1.0", &p_strerror) ||
		!load_symbol(l, "fi_version", "FABRIC_1.0", &p_version)) {
		dlclose(l);
		return "libfabric.so.1 is older than 1.11";
	}
	if (p_version() < LF_VERSION)
		return "libfabric.so.1 is older than 1.11";
	// the first question initialises providers, with the parameters that there are now
	struct lf_info *all = NULL;
	if (p_getinfo(LF_VERSION, NULL, NULL, 0, NULL, &all) == 0)
		p_freeinfo(all);
	*lib = l;
	return NULL;
}

const char *lf_load(void)
{
	static void *lib;
	if (lib)
		return NULL;
	lf_environment_begin();
	const char *why = load(&lib);
	lf_environment_end();
	return why;
}

uint32_t lf_version(void) { return p_version(); }
const char *lf_error_text(int code) { return p_strerror(code); }
void lf_freeinfo(struct lf_info *list) { p_freeinfo(list); }

int lf_getinfo(const char *provider, const char *domain, uint64_t caps, uint64_t op_flags,
	int mr_mode, struct lf_info **out)
{
	struct lf_info *hints = p_dupinfo(NULL);
	*out = NULL;
	if (!hints)
		return -ENOMEM;
	hints->caps = caps;
	hints->tx_attr->op_flags = op_flags;
	hints->mode = LF_MODE_CONTEXT | LF_MODE_CONTEXT2;
	hints->ep_attr->type = LF_EP_RDM;
	hints->domain_attr->mr_mode = mr_mode;
	hints->domain_attr->threading = LF_THREAD_SAFE;
	if (provider)
		hints->fabric_attr->prov_name = strdup(provider); // freed with the hints
	if (domain)
		hints->domain_attr->name = strdup(domain);
	lf_environment_begin();
	int err = p_getinfo(LF_VERSION, NULL, NULL, 0, hints, out);
	lf_environment_end();
	p_freeinfo(hints);
	return err;
}

int lf_open(const struct lf_info *info, struct lf_device *out)
{
	memset(out, 0, sizeof *out);
	out->info = p_dupinfo(info);
	if (!out->info)
		return -ENOMEM;
	lf_environment_begin();
	int err = p_fabric(out->info->fabric_attr, &out->fabric, NULL);
	if (!err)
		err = out->fabric->ops->domain(out->fabric, out->info, &out->domain, NULL);
	lf_environment_end();
	if (err)
		lf_close(out);
	return err;
}

static int close_fid(struct lf_fid *f) { return f->ops->close(f); }

int lf_close(struct lf_device *d)
{
	int err = 0;
	if (d->domain)
		err = close_fid(&d->domain->fid);
	if (d->fabric && !err)
		err = close_fid(&d->fabric->fid);
	if (d->info)
		p_freeinfo(d->info);
	memset(d, 0, sizeof *d);
	return err;
}

int lf_atomics(struct lf_device *d)
{
	struct lf_atomic_attr a;
	if (!(d->info->caps & LF_ATOMIC) ||
		d->domain->ops->size <= offsetof(struct lf_ops_domain, query_atomic))
		return 0;
	return d->domain->ops->query_atomic(d->domain, LF_UINT64, LF_SUM, &a, LF_FETCH_ATOMIC) ==
		0 &&
		d->domain->ops->query_atomic(d->domain, LF_UINT64, LF_CSWAP, &a,
			LF_COMPARE_ATOMIC) == 0;
}
