// SPDX-License-Identifier: BSD-3-Clause
// Global procedure calls.
#include "front.h"
#include "../internal/guest/signals.h"

#include "_cgo_export.h"

typedef int (
	*handler)(int, int, void *, int, void *, int, void *, int, int *, void *, int, int *, int);

// Runs a handler to its end: it is called again while its reply is pending, as in classic ARMCI.
void procedures_run(void *func, int me, int from, void *hdr, int hlen, void *data, int dlen,
	void *rhdr, int *rhlen, void *rdata, int *rdlen)
{
	handler f = (handler)func;
	int hcap = *rhlen, dcap = *rdlen, rhsize = hcap, rdsize = dcap;
	sigset_t mask;
	bool lent = signals_lend(&mask);
	int rc = f(me, from, hdr, hlen, data, dlen, rhdr, hcap, &rhsize, rdata, dcap, &rdsize,
		GPC_INIT);
	while (rc == GPC_PENDING)
		rc = f(me, from, hdr, hlen, data, dlen, rhdr, hcap, &rhsize, rdata, dcap, &rdsize,
			GPC_WAIT);
	if (lent)
		signals_take_back(&mask);
	*rhlen = rhsize < 0 ? 0 : rhsize < hcap ? rhsize : hcap;
	*rdlen = rdsize < 0 ? 0 : rdsize < dcap ? rdsize : dcap;
}

PUBLIC int ARMCI_Gpc_register(int (*func)()) { return armcigo_gpc_register((void *)func); }
PUBLIC void ARMCI_Gpc_release(int handle) { armcigo_gpc_release(handle); }

PUBLIC void *ARMCI_Gpc_translate(void *ptr, int proc, int from)
{
	(void)proc;
	(void)from;
	return ptr; // one address in all ranks
}

PUBLIC void ARMCI_Gpc_lock(int proc) { armcigo_gpc_lock(proc); }
PUBLIC void ARMCI_Gpc_unlock(int proc) { armcigo_gpc_unlock(proc); }
PUBLIC int ARMCI_Gpc_trylock(int proc) { return armcigo_gpc_trylock(proc); }

PUBLIC int ARMCI_Gpc_exec(int h, int p, void *hdr, int hlen, void *data, int dlen, void *rhdr,
	int rhlen, void *rdata, int rdlen, gpc_hdl_t *nbh)
{
	uint64_t bytes = (uint64_t)(hlen > 0 ? hlen : 0) + (uint64_t)(dlen > 0 ? dlen : 0);
	RECORDED(PROFILE_CALL, "ARMCI_Gpc_exec", p, bytes, int,
		armcigo_gpc_exec(h, p, hdr, hlen, data, dlen, rhdr, rhlen, rdata, rdlen, nbh));
}

PUBLIC int ARMCI_Get_gpc_hlen(void) { return FRONT_GPC_BYTES; }
PUBLIC int ARMCI_Get_gpc_dlen(void) { return FRONT_GPC_BYTES; }
PUBLIC void ARMCI_Gpc_init_handle(gpc_hdl_t *nbh) { memset(nbh, 0, sizeof *nbh); }
PUBLIC void ARMCI_Gpc_wait(gpc_hdl_t *nbh) { armcigo_gpc_wait(nbh); }
