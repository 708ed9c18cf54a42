#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rdma.sh ARMCI_PERF DIRECTORY [OPTION]... - the figures and plots over RDMA that docs/validation.md shows: on four hosts
# in the virtual machine with Soft-RoCE, beside raw verbs. Writes rdma.txt, .csv and .md, and plots, rdma-*.svg. OPTIONs
# are armci_perf's. RDMA_HOSTS: fewer hosts. Exit status 77: no virtual machine here. On real hosts:
# armci_perf -rdma -hosts A,B,...
set -eu
[ $# -ge 2 ] || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")/.." && pwd)
perf=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
shift 2

hosts=hosta,hostb,hostc,hostd
n=${RDMA_HOSTS:-4}

"$here/vm/vm.sh" -n "$n" -w "$dir" -t 900 -- "$perf" -rdma -hosts "$(echo $hosts | cut -d, -f1-"$n")" \
	-agent "$here/hosts/agent.sh" -csv "$dir/rdma.csv" -markdown "$dir/rdma.md" -svg "$dir" "$@" >"$dir/rdma.txt" 2>&1 ||
	{
		status=$?
		cat "$dir/rdma.txt"
		exit $status
	}
cat "$dir/rdma.txt"
