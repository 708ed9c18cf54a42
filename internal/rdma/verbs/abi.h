// SPDX-License-Identifier: BSD-3-Clause
//
// The part of libibverbs' documented binary interface (IBVERBS_1.1 and later, 64 bit) that is used
// here, under names of our own. The layouts are facts of that interface; a test compares them with
// <infiniband/verbs.h> where it is installed. Objects that are used by
// pointer alone are only declared.
#ifndef ARMCI_VERBS_ABI_H
#define ARMCI_VERBS_ABI_H

#include <stddef.h>
#include <stdint.h>

struct vb_device;
struct vb_pd;
struct vb_ah;
struct vb_cq;
struct vb_srq;
struct vb_qp;
struct vb_wc;
struct vb_send_wr;
struct vb_recv_wr;

// Function pointers of a device's context; unused ones have no type.
struct vb_ops {
	void *before_poll[11];
	int (*poll_cq)(struct vb_cq *, int n, struct vb_wc *);
	int (*req_notify_cq)(struct vb_cq *, int solicited_only);
	void *before_srq[7];
	int (*post_srq_recv)(struct vb_srq *, struct vb_recv_wr *, struct vb_recv_wr **bad);
	void *before_send[4];
	int (*post_send)(struct vb_qp *, struct vb_send_wr *, struct vb_send_wr **bad);
	int (*post_recv)(struct vb_qp *, struct vb_recv_wr *, struct vb_recv_wr **bad);
	void *after[5];
};

struct vb_context {
	struct vb_device *device;
	struct vb_ops ops;
	int cmd_fd, async_fd, num_comp_vectors;
	uint64_t mutex[5];
	uintptr_t abi; // all ones: it is the last of a vb_extended
};

// What lies before a context. It grows at its beginning; size says how much of it there is, the
// context included.
struct vb_extended {
	int (*query_device_ex)(struct vb_context *, const void *input, void *out, size_t nbytes);
	void *unused[10];
	uint64_t placeholder;
	size_t size;
	struct vb_context context;
};

// What every queue begins with.
struct vb_object {
	struct vb_context *context;
};

struct vb_channel {
	struct vb_context *context;
	int fd, refcnt;
};

struct vb_mr {
	struct vb_context *context;
	struct vb_pd *pd;
	void *addr;
	size_t length;
	uint32_t handle, lkey, rkey;
};

struct vb_qp_head { // the beginning of a queue pair
	struct vb_context *context;
	void *qp_context;
	struct vb_pd *pd;
	struct vb_cq *send_cq, *recv_cq;
	struct vb_srq *srq;
	uint32_t handle, qp_num;
};

struct vb_device_attr {
	char fw_ver[64];
	uint64_t node_guid, sys_image_guid, max_mr_size, page_size_cap;
	uint32_t vendor_id, vendor_part_id, hw_ver;
	int max_qp, max_qp_wr;
	unsigned device_cap_flags;
	int max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd, max_qp_rd_atom, max_ee_rd_atom,
		max_res_rd_atom;
	int max_qp_init_rd_atom, max_ee_init_rd_atom, atomic_cap, max_ee, max_rdd, max_mw,
		max_raw_ipv6_qp;
	int max_raw_ethy_qp, max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach, max_ah,
		max_fmr;
	int max_map_per_fmr, max_srq, max_srq_wr, max_srq_sge;
	uint16_t max_pkeys;
	uint8_t local_ca_ack_delay, phys_port_cnt;
};

struct vb_device_attr_ex { // the beginning of it
	struct vb_device_attr orig;
	uint32_t comp_mask;
	uint64_t on_demand;
	uint32_t on_demand_rc, on_demand_uc, on_demand_ud;
};

struct vb_port_attr {
	int state, max_mtu, active_mtu, gid_tbl_len;
	uint32_t port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr;
	uint16_t pkey_tbl_len, lid, sm_lid;
	uint8_t lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width, active_speed,
		phys_state;
	uint8_t link_layer, flags;
	uint16_t port_cap_flags2;
};

struct vb_sge {
	uint64_t addr;
	uint32_t length, lkey;
};

struct vb_recv_wr {
	uint64_t wr_id;
	struct vb_recv_wr *next;
	struct vb_sge *sg_list;
	int num_sge;
};

struct vb_send_wr {
	uint64_t wr_id;
	struct vb_send_wr *next;
	struct vb_sge *sg_list;
	int num_sge, opcode;
	unsigned send_flags;
	uint32_t imm_data;
	union {
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
		} rdma;
		struct {
			uint64_t remote_addr, compare_add, swap;
			uint32_t rkey;
		} atomic;
		struct {
			struct vb_ah *ah;
			uint32_t remote_qpn, remote_qkey;
		} ud;
	} wr;
	uint64_t unused[7]; // XRC, memory windows, segmentation
};

struct vb_wc {
	uint64_t wr_id;
	int status, opcode;
	uint32_t vendor_err, byte_len, imm_data, qp_num, src_qp;
	unsigned wc_flags;
	uint16_t pkey_index, slid;
	uint8_t sl, dlid_path_bits;
};

struct vb_qp_cap {
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
};

struct vb_qp_init_attr {
	void *qp_context;
	struct vb_cq *send_cq, *recv_cq;
	struct vb_srq *srq;
	struct vb_qp_cap cap;
	int qp_type, sq_sig_all;
};

struct vb_ah_attr {
	uint8_t dgid[16] __attribute__((aligned(8)));
	uint32_t flow_label;
	uint8_t sgid_index, hop_limit, traffic_class;
	uint16_t dlid __attribute__((aligned(8)));
	uint8_t sl, src_path_bits, static_rate, is_global, port_num;
};

struct vb_qp_attr {
	int qp_state, cur_qp_state, path_mtu, path_mig_state;
	uint32_t qkey, rq_psn, sq_psn, dest_qp_num;
	unsigned qp_access_flags;
	struct vb_qp_cap cap;
	struct vb_ah_attr ah_attr, alt_ah_attr;
	uint16_t pkey_index, alt_pkey_index;
	uint8_t en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic, min_rnr_timer,
		port_num, timeout;
	uint8_t retry_cnt, rnr_retry, alt_port_num, alt_timeout;
	uint32_t rate_limit;
};

struct vb_srq_attr {
	uint32_t max_wr, max_sge, srq_limit;
};

struct vb_srq_init_attr {
	void *srq_context;
	struct vb_srq_attr attr;
};

struct vb_async_event {
	union {
		void *object;
		int port;
	} element;
	int event_type;
};

enum { VB_QPT_RC = 2, VB_QPT_UD = 4 };
enum { VB_QPS_RESET = 0, VB_QPS_INIT = 1, VB_QPS_RTR, VB_QPS_RTS, VB_QPS_ERR = 6 };
enum {
	VB_WR_WRITE = 0,
	VB_WR_SEND = 2,
	VB_WR_READ = 4,
	VB_WR_COMPARE_SWAP = 5,
	VB_WR_FETCH_ADD = 6
};
enum { VB_SIGNALED = 2, VB_INLINE = 8 };
// below VB_WC_BAD_RESP: local errors
enum { VB_WC_WR_FLUSH = 5, VB_WC_BAD_RESP = 7, VB_WC_RETRY_EXC = 12, VB_WC_FATAL = 19 };
enum {
	VB_LOCAL_WRITE = 1,
	VB_REMOTE_WRITE = 2,
	VB_REMOTE_READ = 4,
	VB_REMOTE_ATOMIC = 8,
	VB_ON_DEMAND = 64
};
enum { VB_ODP = 1, VB_ODP_WRITE = 4, VB_ODP_READ = 8 };
enum {
	VB_QP_STATE = 1,
	VB_QP_ACCESS_FLAGS = 1 << 3,
	VB_QP_PKEY_INDEX = 1 << 4,
	VB_QP_PORT = 1 << 5,
	VB_QP_QKEY = 1 << 6,
	VB_QP_AV = 1 << 7,
	VB_QP_PATH_MTU = 1 << 8,
	VB_QP_TIMEOUT = 1 << 9,
	VB_QP_RETRY_CNT = 1 << 10,
	VB_QP_RNR_RETRY = 1 << 11,
	VB_QP_RQ_PSN = 1 << 12,
	VB_QP_MAX_RD_ATOMIC = 1 << 13,
	VB_QP_MIN_RNR_TIMER = 1 << 15,
	VB_QP_SQ_PSN = 1 << 16,
	VB_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
	VB_QP_DEST_QPN = 1 << 20
};
enum { VB_EVENT_DEVICE_FATAL = 8, VB_EVENT_PORT_ACTIVE = 9, VB_EVENT_PORT_ERR = 10 };

#endif
