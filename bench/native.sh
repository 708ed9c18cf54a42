#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# native.sh BENCH DIRECTORY [OPTION]... - the figures and plots over RDMA that run natively, between
# four pretended nodes over the software verbs device of tests/softverbs, beside raw verbs: what our
# software costs, on the processor of this machine. Writes native.txt, .csv and .md, and plots.
# BENCH is build/bench/bench, OPTIONs are its; build the target armci_tests first. With -quick it
# takes half a minute, in full five.
set -eu
[ $# -ge 2 ] || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
tests=$(cd "$(dirname "$0")/../tests" && pwd)
bench=$1 device=$(cd "$(dirname "$1")/../tests/softverbs" && pwd)
mkdir -p "$2"
dir=$(cd "$2" && pwd)
shift 2

status=0
export SOFTVERBS_UCX=1 # for MPIs
"$tests/softverbs/with.sh" "$device" "$bench" -rdma -nodes 4 -csv "$dir/native.csv" \
	-markdown "$dir/native.md" -svg "$dir" "$@" >"$dir/native.txt" 2>&1 || status=$?
cat "$dir/native.txt"
exit $status
