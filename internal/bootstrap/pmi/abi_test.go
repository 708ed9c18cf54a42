// SPDX-License-Identifier: BSD-3-Clause

// The layouts and constants in abi.h are those of the headers of PMI-2 and PMIx.
package pmi

import (
	"os/exec"
	"strings"
	"testing"

	"libarmci/internal/testutil/cabi"
)

// The constants and functions of abi.h are those of PMI-2's header.
func TestPMI2Constants(t *testing.T) {
	cabi.Compare(t, []string{"slurm/pmi2.h"}, "abi.h", prototypes2, nil, cabi.Pairs{
		"P2_SUCCESS": "PMI2_SUCCESS", "P2_ID_NULL": "PMI2_ID_NULL",
		"P2_MAX_VALLEN": "PMI2_MAX_VALLEN",
	})
}

// The compiler refuses a second declaration that differs from that of the header.
const prototypes2 = `
int PMI2_Init(int *spawned, int *size, int *rank, int *program);
int PMI2_Finalize(void);
int PMI2_Abort(int flag, const char *message);
int PMI2_Job_GetId(char *id, int bytes);
int PMI2_KVS_Put(const char *key, const char *value);
int PMI2_KVS_Fence(void);
int PMI2_KVS_Get(const char *job, int rank, const char *key, char *value, int bytes, int *length);
`

// The layouts and functions of abi.h are those of PMIx's header.
func TestPMIxLayouts(t *testing.T) {
	out, err := exec.Command("pkg-config", "--variable=includedir", "pmix").Output()
	if err != nil {
		t.Skip("libpmix-dev is not installed, or no pkg-config")
	}
	t.Setenv("C_INCLUDE_PATH", strings.TrimSpace(string(out)))
	cabi.Compare(t, []string{"pmix.h"}, "abi.h", prototypesX, []cabi.Layout{
		{"px_proc", "pmix_proc", "sizeof nspace rank"},
		{"px_value", "pmix_value", "sizeof type data data.flag data.string data.uint32"},
		{"px_info", "pmix_info", "sizeof key flags value"},
	}, cabi.Pairs{
		"PX_SUCCESS": "PMIX_SUCCESS", "PX_ANY_RANK": "PMIX_RANK_WILDCARD",
		"PX_BOOL": "PMIX_BOOL", "PX_STRING": "PMIX_STRING",
		"PX_UINT32": "PMIX_UINT32", "PX_GLOBAL": "PMIX_GLOBAL",
		"PX_NAMESPACE_BYTES": "PMIX_MAX_NSLEN + 1",
		"PX_KEY_BYTES":       "PMIX_MAX_KEYLEN + 1",
		`__builtin_strcmp(PX_JOB_SIZE, PMIX_JOB_SIZE)`:         "0",
		`__builtin_strcmp(PX_LOCAL_SIZE, PMIX_LOCAL_SIZE)`:     "0",
		`__builtin_strcmp(PX_COLLECT_DATA, PMIX_COLLECT_DATA)`: "0",
	})
}

const prototypesX = `
pmix_status_t PMIx_Init(pmix_proc_t *, pmix_info_t *, size_t);
pmix_status_t PMIx_Finalize(const pmix_info_t *, size_t);
pmix_status_t PMIx_Abort(int, const char *, pmix_proc_t *, size_t);
pmix_status_t PMIx_Put(pmix_scope_t, const char *, pmix_value_t *);
pmix_status_t PMIx_Commit(void);
pmix_status_t PMIx_Fence(const pmix_proc_t *, size_t, const pmix_info_t *, size_t);
pmix_status_t PMIx_Get(const pmix_proc_t *, const char *, const pmix_info_t *, size_t,
	pmix_value_t **);
`
