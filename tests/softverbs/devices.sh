#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# devices.sh PROGRAM - by with.sh, on hosts with two devices that are equally near: ranks of a node
# use them in turn, the results of PROGRAM are right, ARMCI_RDMA_DEVICE takes one for all, and
# armci_info says which are used and why. Input: BUILD.
set -u
program=$1
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
fail() {
	echo "FAIL devices: $*"
	sed 's/^/    | /' "$out"
	exit 1
}

# opened DEVICES: how often four ranks open each, as "COUNT DEVICE" in the order of names. A rank
# tries all that it may use, and opens one to use it.
opened() {
	ARMCI_TRANSPORT=rdma SOFTVERBS_SAY_OPEN=1 timeout 100 "$BUILD/bin/armcirun" -nodes 2 -n 4 \
		"$program" >"$out" 2>&1 || fail "$program"
	found=$(sed -n 's/^softverbs: process [0-9]* opens //p' "$out" | sort | uniq -c |
		xargs echo)
	[ "$found" = "$1" ] || fail "devices are opened so: $found, not $1"
	echo "ok $1"
}

opened "6 softverbs0 6 softverbs1"
ARMCI_RDMA_DEVICE=softverbs1
export ARMCI_RDMA_DEVICE
opened "8 softverbs1"
unset ARMCI_RDMA_DEVICE
timeout 60 "$BUILD/bin/armci_info" -d >"$out" 2>&1 || fail "armci_info -d"
grep -q 'softverbs0 port 1, LID 17, NUMA node 0;' "$out" &&
	grep -q 'also usable: softverbs1 port 1, LID 33, NUMA node 0, as near: ranks' "$out" ||
	fail "armci_info -d does not say which devices are used"
echo "ok devices"
