// SPDX-License-Identifier: BSD-3-Clause
//
// The part of libfabric's documented binary interface (FABRIC_1.3 and later, 64 bit) that is used
// here, under names of our own. The layouts are facts of that interface; a test compares them with
// <rdma/fabric.h> where it is installed. Functions are called through tables in objects, of which
// only the entries that are used have a type.
#ifndef ARMCI_LIBFABRIC_ABI_H
#define ARMCI_LIBFABRIC_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct lf_fid;

struct lf_ops {
	size_t size;
	int (*close)(struct lf_fid *);
	int (*bind)(struct lf_fid *, struct lf_fid *other, uint64_t flags);
	int (*control)(struct lf_fid *, int command, void *arg);
};

// What all objects begin with.
struct lf_fid {
	size_t class;
	void *context;
	struct lf_ops *ops;
};

struct lf_tx_attr {
	uint64_t caps, mode, op_flags, msg_order, comp_order;
	size_t inject_size, size, iov_limit, rma_iov_limit;
	uint32_t tclass;
};

struct lf_rx_attr {
	uint64_t caps, mode, op_flags, msg_order, comp_order;
	size_t total_buffered_recv, size, iov_limit;
};

struct lf_ep_attr {
	int type;
	uint32_t protocol, protocol_version;
	size_t max_msg_size, msg_prefix_size, max_order_raw_size, max_order_war_size,
		max_order_waw_size;
};

struct lf_domain_attr {
	void *domain;
	char *name;
	int threading, control_progress, data_progress, resource_mgmt, av_type, mr_mode;
	size_t mr_key_size;
};

struct lf_fabric_attr {
	void *fabric;
	char *name, *prov_name;
	uint32_t prov_version, api_version;
};

struct lf_info {
	struct lf_info *next;
	uint64_t caps, mode;
	uint32_t addr_format;
	size_t src_addrlen, dest_addrlen;
	void *src_addr, *dest_addr;
	struct lf_fid *handle;
	struct lf_tx_attr *tx_attr;
	struct lf_rx_attr *rx_attr;
	struct lf_ep_attr *ep_attr;
	struct lf_domain_attr *domain_attr;
	struct lf_fabric_attr *fabric_attr;
	void *nic;
};

struct lf_fabric;
struct lf_domain;
struct lf_av;
struct lf_cq;
struct lf_ep;
struct lf_mr;

struct lf_ops_fabric {
	size_t size;
	int (*domain)(struct lf_fabric *, struct lf_info *, struct lf_domain **, void *context);
	void *before_trywait[3];
	int (*trywait)(struct lf_fabric *, struct lf_fid **, int n);
};

struct lf_fabric {
	struct lf_fid fid;
	struct lf_ops_fabric *ops;
};

struct lf_av_attr {
	int type, rx_ctx_bits;
	size_t count, ep_per_node;
	const char *name;
	void *map_addr;
	uint64_t flags;
};

struct lf_cq_attr {
	size_t size;
	uint64_t flags;
	int format, wait_obj, signaling_vector, wait_cond;
	void *wait_set;
};

struct lf_atomic_attr {
	size_t count, size;
};

struct lf_ops_domain {
	size_t size;
	int (*av_open)(struct lf_domain *, struct lf_av_attr *, struct lf_av **, void *context);
	int (*cq_open)(struct lf_domain *, struct lf_cq_attr *, struct lf_cq **, void *context);
	int (*endpoint)(struct lf_domain *, struct lf_info *, struct lf_ep **, void *context);
	void *before_query_atomic[5];
	int (*query_atomic)(struct lf_domain *, int type, int op, struct lf_atomic_attr *,
		uint64_t flags);
};

struct lf_ops_mr {
	size_t size;
	int (*reg)(struct lf_fid *, const void *, size_t, uint64_t access, uint64_t offset,
		uint64_t key, uint64_t flags, struct lf_mr **, void *context);
};

struct lf_domain {
	struct lf_fid fid;
	struct lf_ops_domain *ops;
	struct lf_ops_mr *mr;
};

struct lf_ops_av {
	size_t size;
	int (*insert)(struct lf_av *, const void *addr, size_t n, uint64_t *out, uint64_t flags,
		void *context);
	void *before_remove[2];
	int (*remove)(struct lf_av *, uint64_t *addrs, size_t n, uint64_t flags);
};

struct lf_av {
	struct lf_fid fid;
	struct lf_ops_av *ops;
};

struct lf_mr {
	struct lf_fid fid;
	void *mem_desc;
	uint64_t key;
};

struct lf_cq_entry { // format "msg"
	void *context;
	uint64_t flags;
	size_t len;
};

struct lf_cq_error {
	void *context;
	uint64_t flags;
	size_t len;
	void *buf;
	uint64_t data, tag;
	size_t olen;
	int err, prov_errno;
	void *err_data;
	size_t err_data_size;
	uint64_t later[4]; // newer libraries write more
};

struct lf_ops_cq {
	size_t size;
	ssize_t (*read)(struct lf_cq *, void *, size_t n);
	void *before_readerr;
	ssize_t (*readerr)(struct lf_cq *, struct lf_cq_error *, uint64_t flags);
};

struct lf_cq {
	struct lf_fid fid;
	struct lf_ops_cq *ops;
};

struct lf_msg {
	const struct iovec *iov;
	void **desc;
	size_t count;
	uint64_t addr;
	void *context;
	uint64_t data;
};

struct lf_rma_iov {
	uint64_t addr;
	size_t len;
	uint64_t key;
};

struct lf_msg_rma {
	const struct iovec *iov;
	void **desc;
	size_t count;
	uint64_t addr;
	const struct lf_rma_iov *rma_iov;
	size_t rma_count;
	void *context;
	uint64_t data;
};

struct lf_ops_cm {
	size_t size;
	void *setname;
	int (*getname)(struct lf_fid *, void *, size_t *);
};

struct lf_ops_msg {
	size_t size;
	ssize_t (*recv)(struct lf_ep *, void *, size_t, void *desc, uint64_t addr, void *context);
	void *before_sendmsg[4];
	ssize_t (*sendmsg)(struct lf_ep *, const struct lf_msg *, uint64_t flags);
};

struct lf_ops_rma {
	size_t size;
	void *before_readmsg[2];
	ssize_t (*readmsg)(struct lf_ep *, const struct lf_msg_rma *, uint64_t flags);
	void *before_writemsg[2];
	ssize_t (*writemsg)(struct lf_ep *, const struct lf_msg_rma *, uint64_t flags);
};

struct lf_ops_atomic {
	size_t size;
	void *before_readwrite[4];
	ssize_t (*readwrite)(struct lf_ep *, const void *, size_t n, void *desc, void *result,
		void *result_desc, uint64_t to, uint64_t addr, uint64_t key, int type, int op,
		void *context);
	void *before_compwrite[2];
	ssize_t (*compwrite)(struct lf_ep *, const void *, size_t n, void *desc,
		const void *compare, void *compare_desc, void *result, void *result_desc,
		uint64_t to, uint64_t addr, uint64_t key, int type, int op, void *context);
};

struct lf_ep {
	struct lf_fid fid;
	void *ops;
	struct lf_ops_cm *cm;
	struct lf_ops_msg *msg;
	struct lf_ops_rma *rma;
	void *tagged;
	struct lf_ops_atomic *atomic;
};

#define LF_VERSION ((1u << 16) | 11)
#define LF_BIT(n) (UINT64_C(1) << (n))
enum {
	LF_EP_RDM = 3,
	LF_THREAD_SAFE = 1,
	LF_PROGRESS_AUTO = 1,
	LF_SOCKADDR_IN = 2,
	LF_SOCKADDR_IN6 = 3
};
#define LF_MSG LF_BIT(1)
#define LF_RMA LF_BIT(2)
#define LF_ATOMIC LF_BIT(4)
#define LF_READ LF_BIT(8)
#define LF_WRITE LF_BIT(9)
#define LF_RECV LF_BIT(10)
#define LF_SEND LF_BIT(11)
#define LF_REMOTE_READ LF_BIT(12)
#define LF_REMOTE_WRITE LF_BIT(13)
#define LF_COMPLETION LF_BIT(24)
#define LF_DELIVERY_COMPLETE LF_BIT(28)
#define LF_FETCH_ATOMIC LF_BIT(58)
#define LF_COMPARE_ATOMIC LF_BIT(59)
#define LF_MODE_CONTEXT LF_BIT(59)
#define LF_MODE_CONTEXT2 LF_BIT(52)
enum {
	LF_MR_LOCAL = 1 << 2,
	LF_MR_VIRT_ADDR = 1 << 4,
	LF_MR_ALLOCATED = 1 << 5,
	LF_MR_PROV_KEY = 1 << 6,
	LF_MR_ENDPOINT = 1 << 9
};
#define LF_ORDER_RAW LF_BIT(1)
#define LF_ORDER_WAW LF_BIT(4)
#define LF_ORDER_SAW LF_BIT(7)
#define LF_ORDER_SAS LF_BIT(8)
enum { LF_WAIT_NONE = 0, LF_WAIT_FD = 3, LF_CQ_FORMAT_MSG = 2 };
enum { LF_GETWAIT = 5, LF_ENABLE = 6 };
enum { LF_UINT64 = 7, LF_SUM = 2, LF_CSWAP = 12 };
enum { LF_EAVAIL = 259, LF_ENOKEY = 266 };
#define LF_ADDR_UNSPEC UINT64_MAX

#endif
