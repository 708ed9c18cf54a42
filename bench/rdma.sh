#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rdma.sh BENCH DIRECTORY [OPTION]... - the figures and plots over RDMA that docs/validation.md
# shows: on four hosts in the virtual machine with Soft-RoCE, beside raw verbs. Writes rdma.txt,
# .csv and .md, and plots. BENCH is build/bench/bench, OPTIONs are its. RDMA_HOSTS: fewer hosts.
# Exit status 77: no virtual machine here.
set -eu
[ $# -ge 2 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
tests=$(cd "$(dirname "$0")/../tests" && pwd)
bench=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
shift 2

n=${RDMA_HOSTS:-4}
hosts=$(echo hosta,hostb,hostc,hostd | cut -d, -f1-"$n")
"$tests/vm/vm.sh" -n "$n" -w "$dir" -t "${RDMA_SECONDS:-900}" -- "$bench" -rdma -hosts "$hosts" \
	-agent "$tests/hosts/agent.sh" \
	-csv "$dir/rdma.csv" -markdown "$dir/rdma.md" -svg "$dir" "$@" >"$dir/rdma.txt" 2>&1 || {
	status=$?
	cat "$dir/rdma.txt"
	exit $status
}
cat "$dir/rdma.txt"
