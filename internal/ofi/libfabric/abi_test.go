// SPDX-License-Identifier: BSD-3-Clause

// The layouts in abi.h are those of libfabric's headers.
package libfabric

import (
	"testing"

	"libarmci/internal/testutil/cabi"
)

var layouts = []cabi.Layout{
	{"lf_ops", "fi_ops", "size close bind control"},
	{"lf_fid", "fid", "sizeof class=fclass context ops"},
	{"lf_tx_attr", "fi_tx_attr",
		"sizeof caps mode op_flags msg_order comp_order inject_size size iov_limit " +
			"rma_iov_limit"},
	{"lf_rx_attr", "fi_rx_attr",
		"sizeof caps mode op_flags msg_order comp_order total_buffered_recv size " +
			"iov_limit"},
	{"lf_ep_attr", "fi_ep_attr",
		"type max_msg_size msg_prefix_size max_order_raw_size max_order_war_size " +
			"max_order_waw_size"},
	{"lf_domain_attr", "fi_domain_attr",
		"name threading control_progress data_progress av_type mr_mode mr_key_size"},
	{"lf_fabric_attr", "fi_fabric_attr", "sizeof name prov_name prov_version api_version"},
	{"lf_info", "fi_info",
		"sizeof next caps mode addr_format src_addrlen src_addr dest_addr tx_attr " +
			"rx_attr ep_attr domain_attr " +
			"fabric_attr nic"},
	{"lf_ops_fabric", "fi_ops_fabric", "domain trywait"},
	{"lf_fabric", "fid_fabric", "ops"},
	{"lf_av_attr", "fi_av_attr", "sizeof type count name flags"},
	{"lf_cq_attr", "fi_cq_attr", "sizeof size flags format wait_obj wait_set"},
	{"lf_atomic_attr", "fi_atomic_attr", "sizeof"},
	{"lf_ops_domain", "fi_ops_domain", "av_open cq_open endpoint query_atomic"},
	{"lf_ops_mr", "fi_ops_mr", "reg"},
	{"lf_domain", "fid_domain", "sizeof ops mr"},
	{"lf_ops_av", "fi_ops_av", "insert remove"},
	{"lf_av", "fid_av", "ops"},
	{"lf_mr", "fid_mr", "sizeof mem_desc key"},
	{"lf_cq_entry", "fi_cq_msg_entry", "sizeof context=op_context flags len"},
	{"lf_cq_error", "fi_cq_err_entry",
		"context=op_context flags len olen err prov_errno err_data err_data_size"},
	{"lf_ops_cq", "fi_ops_cq", "read readerr"},
	{"lf_cq", "fid_cq", "ops"},
	{"lf_msg", "fi_msg", "sizeof iov=msg_iov desc count=iov_count addr context data"},
	{"lf_rma_iov", "fi_rma_iov", "sizeof addr len key"},
	{"lf_msg_rma", "fi_msg_rma",
		"sizeof iov=msg_iov desc count=iov_count addr rma_iov rma_count=rma_iov_count " +
			"context data"},
	{"lf_ops_cm", "fi_ops_cm", "getname"},
	{"lf_ops_msg", "fi_ops_msg", "recv sendmsg"},
	{"lf_ops_rma", "fi_ops_rma", "readmsg writemsg"},
	{"lf_ops_atomic", "fi_ops_atomic", "readwrite compwrite"},
	{"lf_ep", "fid_ep", "cm msg rma atomic"},
}

var values = cabi.Pairs{
	"LF_EP_RDM": "FI_EP_RDM", "LF_THREAD_SAFE": "FI_THREAD_SAFE",
	"LF_PROGRESS_AUTO": "FI_PROGRESS_AUTO", "LF_MSG": "FI_MSG",
	"LF_RMA": "FI_RMA", "LF_ATOMIC": "FI_ATOMIC", "LF_READ": "FI_READ", "LF_WRITE": "FI_WRITE",
	"LF_RECV": "FI_RECV",
	"LF_SEND": "FI_SEND", "LF_REMOTE_READ": "FI_REMOTE_READ",
	"LF_REMOTE_WRITE": "FI_REMOTE_WRITE",
	"LF_COMPLETION":   "FI_COMPLETION", "LF_DELIVERY_COMPLETE": "FI_DELIVERY_COMPLETE",
	"LF_MODE_CONTEXT":  "FI_CONTEXT",
	"LF_MODE_CONTEXT2": "FI_CONTEXT2", "LF_MR_LOCAL": "FI_MR_LOCAL",
	"LF_MR_VIRT_ADDR": "FI_MR_VIRT_ADDR",
	"LF_MR_ALLOCATED": "FI_MR_ALLOCATED", "LF_MR_PROV_KEY": "FI_MR_PROV_KEY",
	"LF_MR_ENDPOINT": "FI_MR_ENDPOINT",
	"LF_ORDER_RAW":   "FI_ORDER_RAW", "LF_ORDER_WAW": "FI_ORDER_WAW",
	"LF_ORDER_SAW": "FI_ORDER_SAW",
	"LF_ORDER_SAS": "FI_ORDER_SAS", "LF_WAIT_NONE": "FI_WAIT_NONE", "LF_WAIT_FD": "FI_WAIT_FD",
	"LF_CQ_FORMAT_MSG": "FI_CQ_FORMAT_MSG", "LF_GETWAIT": "FI_GETWAIT",
	"LF_ENABLE": "FI_ENABLE", "LF_UINT64": "FI_UINT64",
	"LF_SUM": "FI_SUM", "LF_CSWAP": "FI_CSWAP", "LF_EAVAIL": "FI_EAVAIL",
	"LF_ENOKEY":       "FI_ENOKEY",
	"LF_FETCH_ATOMIC": "FI_FETCH_ATOMIC", "LF_COMPARE_ATOMIC": "FI_COMPARE_ATOMIC",
	"LF_SOCKADDR_IN":  "FI_SOCKADDR_IN",
	"LF_SOCKADDR_IN6": "FI_SOCKADDR_IN6",
}

// The layouts and values of abi.h are those of libfabric's headers.
func TestLayouts(t *testing.T) {
	headers := []string{"rdma/fabric.h", "rdma/fi_domain.h", "rdma/fi_endpoint.h",
		"rdma/fi_cm.h", "rdma/fi_rma.h", "rdma/fi_atomic.h",
		"rdma/fi_eq.h", "rdma/fi_errno.h"}
	cabi.Compare(t, headers, "abi.h", "", layouts, values)
}
