// SPDX-License-Identifier: BSD-3-Clause
// Names of statuses and events, as libibverbs says them; and calls of it that have nothing to do
// here.
#include "softverbs.h"

#include <errno.h>

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	static const char *const text[] = {"success", "local length error",
		"local QP operation error", "local EE context operation error",
		"local protection error", "Work Request Flushed Error",
		"memory management operation error", "bad response error", "local access error",
		"remote invalid request error", "remote access error", "remote operation error",
		"transport retry counter exceeded", "RNR retry counter exceeded",
		"local RDD violation error", "remote invalid RD request", "aborted error",
		"invalid EE context number", "invalid EE context state", "fatal error",
		"response timeout error", "general error"};
	return (unsigned)status < sizeof text / sizeof text[0] ? text[status] : "unknown";
}

const char *ibv_event_type_str(enum ibv_event_type event)
{
	static const char *const text[] = {"CQ error", "local work queue catastrophic error",
		"invalid request local work queue error", "local access violation work queue error",
		"communication established", "send queue drained", "path migrated",
		"path migration request error", "local catastrophic error", "port active",
		"port error", "LID change", "P_Key change", "SM change", "SRQ catastrophic error",
		"SRQ limit reached", "last WQE reached", "client reregistration",
		"GID table change"};
	return (unsigned)event < sizeof text / sizeof text[0] ? text[event] : "unknown";
}

const char *ibv_port_state_str(enum ibv_port_state state)
{
	static const char *const text[] = {"no state change (NOP)", "down", "init", "armed",
		"active", "active defer"};
	return (unsigned)state < sizeof text / sizeof text[0] ? text[state] : "unknown";
}

const char *ibv_node_type_str(enum ibv_node_type type)
{
	return type == IBV_NODE_CA ? "InfiniBand channel adapter" : "unknown";
}

int ibv_fork_init(void) { return 0; } // nothing is pinned
enum ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }
int ibv_resize_cq(struct ibv_cq *cq, int cqe) { return cqe <= cq->cqe ? 0 : EOPNOTSUPP; }
