/* SPDX-License-Identifier: BSD-3-Clause */
/* gpc.h: global procedure calls (active messages run at the target). Declarations only. */
#ifndef ARMCI_GPC_H_
#define ARMCI_GPC_H_

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GPC_INIT 1
#define GPC_PROBE 2
#define GPC_WAIT 3
#define GPC_DONE 4
#define GPC_PENDING 5

typedef struct {
	int proc;
	int pad;
	armci_hdl_t ahdl;
	char reserved[592 - sizeof(armci_hdl_t)];
} gpc_hdl_t;

int ARMCI_Gpc_register(int (*func)());
void ARMCI_Gpc_release(int handle);
void *ARMCI_Gpc_translate(void *ptr, int proc, int from);
void ARMCI_Gpc_lock(int proc);
void ARMCI_Gpc_unlock(int proc);
int ARMCI_Gpc_trylock(int proc);
int ARMCI_Gpc_exec(int h, int p, void *hdr, int hlen, void *data, int dlen, void *rhdr, int rhlen, void *rdata,
	int rdlen, gpc_hdl_t *nbh);
int ARMCI_Get_gpc_hlen(void);
int ARMCI_Get_gpc_dlen(void);
void ARMCI_Gpc_init_handle(gpc_hdl_t *nbh);
void ARMCI_Gpc_wait(gpc_hdl_t *nbh);

#ifdef __cplusplus
}
#endif

#endif
