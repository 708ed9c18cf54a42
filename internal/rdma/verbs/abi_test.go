// SPDX-License-Identifier: BSD-3-Clause

// The layouts in abi.h are those of <infiniband/verbs.h>: a C compiler compares them, where that
// header is installed.
package verbs

import (
	"testing"

	"libarmci/internal/testutil/cabi"
)

// layouts: structures (or the beginnings of some) and fields whose places must agree.
var layouts = []cabi.Layout{
	{"vb_context", "ibv_context",
		"device cmd_fd async_fd num_comp_vectors ops.poll_cq ops.req_notify_cq " +
			"ops.post_srq_recv ops.post_send ops.post_recv sizeof"},
	{"vb_ops", "ibv_context_ops", "sizeof"},
	{"vb_channel", "ibv_comp_channel", "sizeof fd refcnt"},
	{"vb_mr", "ibv_mr", "sizeof addr length handle lkey rkey"},
	{"vb_qp_head", "ibv_qp", "pd send_cq recv_cq srq handle qp_num"},
	{"vb_object", "ibv_cq", "context"},
	{"vb_object", "ibv_srq", "context"},
	{"vb_device_attr", "ibv_device_attr",
		"sizeof fw_ver max_mr_size max_qp max_qp_wr max_sge max_cqe max_mr " +
			"max_qp_rd_atom " +
			"max_qp_init_rd_atom atomic_cap max_srq_wr phys_port_cnt"},
	{"vb_port_attr", "ibv_port_attr", "sizeof state active_mtu max_msg_sz lid link_layer"},
	{"vb_sge", "ibv_sge", "sizeof addr length lkey"},
	{"vb_recv_wr", "ibv_recv_wr", "sizeof wr_id next sg_list num_sge"},
	{"vb_send_wr", "ibv_send_wr",
		"sizeof wr_id next sg_list num_sge opcode send_flags imm_data " +
			"wr.rdma.remote_addr " +
			"wr.rdma.rkey wr.atomic.compare_add wr.atomic.swap wr.atomic.rkey " +
			"wr.ud.ah " +
			"wr.ud.remote_qpn wr.ud.remote_qkey"},
	{"vb_wc", "ibv_wc",
		"sizeof wr_id status opcode vendor_err byte_len qp_num src_qp wc_flags " +
			"pkey_index slid sl dlid_path_bits"},
	{"vb_qp_init_attr", "ibv_qp_init_attr",
		"sizeof send_cq recv_cq srq cap cap.max_inline_data qp_type sq_sig_all"},
	{"vb_qp_attr", "ibv_qp_attr",
		"sizeof qp_state path_mtu qkey rq_psn sq_psn dest_qp_num qp_access_flags cap " +
			"ah_attr " +
			"alt_ah_attr pkey_index max_rd_atomic max_dest_rd_atomic min_rnr_timer " +
			"port_num " +
			"timeout retry_cnt rnr_retry"},
	{"vb_srq_init_attr", "ibv_srq_init_attr", "sizeof attr.max_wr attr.max_sge"},
	{"vb_async_event", "ibv_async_event", "sizeof event_type element"},
}

// values are constants that must agree.
var values = cabi.Pairs{
	"offsetof(struct vb_context, abi)":     "offsetof(struct ibv_context, abi_compat)",
	"BEFORE(vb_extended, query_device_ex)": "BEFORE(verbs_context, query_device_ex)",
	"BEFORE(vb_extended, size)":            "BEFORE(verbs_context, sz)",
	"offsetof(struct vb_device_attr_ex, on_demand)": "offsetof(struct ibv_device_attr_ex, " +
		"odp_caps.general_caps)",
	"offsetof(struct vb_device_attr_ex, on_demand_rc)": "offsetof(struct ibv_device_attr_ex, " +
		"odp_caps.per_transport_caps)",
	"VB_QPT_RC": "IBV_QPT_RC", "VB_QPT_UD": "IBV_QPT_UD", "VB_QPS_INIT": "IBV_QPS_INIT",
	"VB_QPS_RTR": "IBV_QPS_RTR",
	"VB_QPS_RTS": "IBV_QPS_RTS", "VB_WR_WRITE": "IBV_WR_RDMA_WRITE",
	"VB_WR_SEND": "IBV_WR_SEND", "VB_WR_READ": "IBV_WR_RDMA_READ",
	"VB_WR_COMPARE_SWAP": "IBV_WR_ATOMIC_CMP_AND_SWP",
	"VB_WR_FETCH_ADD":    "IBV_WR_ATOMIC_FETCH_AND_ADD",
	"VB_REMOTE_ATOMIC":   "IBV_ACCESS_REMOTE_ATOMIC", "VB_SIGNALED": "IBV_SEND_SIGNALED",
	"VB_INLINE":    "IBV_SEND_INLINE",
	"VB_ON_DEMAND": "IBV_ACCESS_ON_DEMAND", "VB_ODP": "IBV_ODP_SUPPORT",
	"VB_ODP_WRITE":   "IBV_ODP_SUPPORT_WRITE",
	"VB_ODP_READ":    "IBV_ODP_SUPPORT_READ",
	"VB_LOCAL_WRITE": "IBV_ACCESS_LOCAL_WRITE", "VB_REMOTE_WRITE": "IBV_ACCESS_REMOTE_WRITE",
	"VB_REMOTE_READ": "IBV_ACCESS_REMOTE_READ", "VB_QP_STATE": "IBV_QP_STATE",
	"VB_QP_ACCESS_FLAGS": "IBV_QP_ACCESS_FLAGS", "VB_QP_PKEY_INDEX": "IBV_QP_PKEY_INDEX",
	"VB_QP_PORT": "IBV_QP_PORT",
	"VB_QP_QKEY": "IBV_QP_QKEY", "VB_QP_AV": "IBV_QP_AV", "VB_QP_PATH_MTU": "IBV_QP_PATH_MTU",
	"VB_QP_TIMEOUT": "IBV_QP_TIMEOUT", "VB_QP_RETRY_CNT": "IBV_QP_RETRY_CNT",
	"VB_QP_RNR_RETRY": "IBV_QP_RNR_RETRY",
	"VB_QP_RQ_PSN":    "IBV_QP_RQ_PSN", "VB_QP_MAX_RD_ATOMIC": "IBV_QP_MAX_QP_RD_ATOMIC",
	"VB_QP_MIN_RNR_TIMER": "IBV_QP_MIN_RNR_TIMER", "VB_QP_SQ_PSN": "IBV_QP_SQ_PSN",
	"VB_QP_MAX_DEST_RD_ATOMIC": "IBV_QP_MAX_DEST_RD_ATOMIC",
	"VB_QP_DEST_QPN":           "IBV_QP_DEST_QPN",
	"VB_EVENT_DEVICE_FATAL":    "IBV_EVENT_DEVICE_FATAL",
	"VB_WC_WR_FLUSH":           "IBV_WC_WR_FLUSH_ERR",
	"VB_WC_RETRY_EXC":          "IBV_WC_RETRY_EXC_ERR",
	"VB_QPS_RESET":             "IBV_QPS_RESET",
	"VB_QPS_ERR":               "IBV_QPS_ERR",
	"VB_EVENT_PORT_ACTIVE":     "IBV_EVENT_PORT_ACTIVE",
	"VB_EVENT_PORT_ERR":        "IBV_EVENT_PORT_ERR",
}

// TestLayouts: structs and constants of abi.h have the layouts and values of <infiniband/verbs.h>.
func TestLayouts(t *testing.T) {
	more := "#define BEFORE(s, f) (offsetof(struct s, context) - offsetof(struct s, f))\n"
	cabi.Compare(t, []string{"infiniband/verbs.h"}, "abi.h", more, layouts, values)
}
