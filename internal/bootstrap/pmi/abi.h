// SPDX-License-Identifier: BSD-3-Clause
// What is used of the interfaces of PMI-2 and PMIx: layouts and constants, compared with their
// headers by abi_test.go.
#ifndef LIBARMCI_PMI_ABI_H
#define LIBARMCI_PMI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { P2_SUCCESS = 0, P2_ID_NULL = -1, P2_MAX_VALLEN = 1024 };

enum {
	PX_SUCCESS = 0,
	PX_ANY_RANK = 0xfffffffe, // PMIX_RANK_WILDCARD: the job as a whole
	PX_BOOL = 1,
	PX_STRING = 3,
	PX_UINT32 = 14,
	PX_GLOBAL = 3, // scope: ranks of this host and others
	PX_NAMESPACE_BYTES = 256,
	PX_KEY_BYTES = 512,
};

#define PX_JOB_SIZE "pmix.job.size"
#define PX_LOCAL_SIZE "pmix.local.size"
#define PX_COLLECT_DATA "pmix.collect"

struct px_proc {
	char nspace[PX_NAMESPACE_BYTES];
	uint32_t rank;
};

struct px_value {
	uint16_t type;
	union {
		_Bool flag;
		char *string;
		uint32_t uint32;
		struct {
			void *most[3];
		} largest;
	} data;
};

struct px_info {
	char key[PX_KEY_BYTES];
	uint32_t flags;
	struct px_value value;
};

#endif
