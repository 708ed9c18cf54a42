/* SPDX-License-Identifier: BSD-3-Clause */
/* How programs in the wild use the headers: macros in every position, macro and function of one
 * name, a tool's own definitions of weak names. It is compiled, never linked or run. */
#include <armci.h>
#include <gpc.h>

static int handler(int to, int from, void *hdr, int hlen, void *data, int dlen, void *rhdr,
	int rhlen, int *rhsize, void *rdata, int rdlen, int *rdsize, int rtype)
{
	(void)hdr, (void)hlen, (void)data, (void)dlen, (void)rhdr, (void)rhlen, (void)rdata,
		(void)rdlen;
	*rhsize = *rdsize = 0;
	return rtype == GPC_INIT && to == from ? GPC_PENDING : GPC_DONE;
}

/* A profiling tool: the plain name calls the other one. */
int ARMCI_Put(void *src, void *dst, int bytes, int proc) {
	return PARMCI_Put(src, dst, bytes, proc);
}

int ARMCI_Finalize(void) {
	return PARMCI_Finalize();
}

/* A library that defines a function which also is a macro puts its name in parentheses. */
void (ARMCI_INIT_HANDLE)(armci_hdl_t *hdl) {
	ARMCI_INIT_HANDLE(hdl);
}

int uses(int on, double *x, void *ptr, void (*report)(const char *, int));

int uses(int on, double *x, void *ptr, void (*report)(const char *, int)) {
	armci_hdl_t one, many[4], zeroed = {0};
	armci_req_t old;
	armci_giov_t iov;
	ARMCI_Group group;
	char max[] = "max";
	int i, count[2] = {8, 1}, stride[1] = {16};

	ARMCI_INIT_HANDLE(&one);
	ARMCI_INIT_HANDLE(&old);
	for (i = 0; i < 4; i++)
		ARMCI_INIT_HANDLE(many + i);
	if (on)
		ARMCI_INIT_HANDLE(&zeroed);
	else
		ARMCI_SET_AGGREGATE_HANDLE(&zeroed);
	dassert(on, x != NULL);
	dassert1(on, x != NULL, count[0]);
	if (!on)
		armci_die("off", on);
	else
		armci_die2("on", on, 1);
	dassertp(1, on, ("%d of %d\n", on, count[0]));
	report = report ? report : ARMCI_Error;
	report("text", 1);
	i = ARMCI_Put1(x, ptr, 8, 0);
	iov.src_ptr_array = iov.dst_ptr_array = &ptr;
	iov.bytes = 8;
	iov.ptr_array_len = 1;
	ARMCI_Group_get_world(&group);
	armci_msg_sel(x, 8, max, ARMCI_DOUBLE, 1);
	(armci_msg_sel)(x, 8, max, ARMCI_DOUBLE, 1);
	i += ARMCI_NbPutS(x, stride, ptr, stride, count, 1, 0, NULL) + ARMCI_PutV(&iov, 1, 0);
	return i + ARMCI_Gpc_register((int (*)())(void (*)(void))handler) + ARMCI_Wait(&one);
}
