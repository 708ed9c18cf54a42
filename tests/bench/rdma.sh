#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rdma.sh - runs bench -quick over RDMA in the virtual machine: every job ends well, operations have
# figures and baselines, contiguous ones in every protocol, tables and charts are written. No figure
# is judged. Protocols of strided transfers are only one more of the kind, with five ranks on a
# node: they take too long for a test. Input: BUILD WORK.
set -u
here=$(cd "$(dirname "$0")/../../bench" && pwd)
. "$(dirname "$0")/work.sh"
RDMA_HOSTS=3 "$here/rdma.sh" "$BUILD/bench/bench" "$WORK" -quick -reps 2 \
	-only small,rmw,acc,put-new,overlap,protocols,fences
status=$?
[ $status -ne 77 ] || exit 77
[ $status -eq 0 ] || fail "rdma.sh: exit status $status"

awk -F, 'NR > 1 && $6 != "%" && $7 + 0 <= 0 { print "no figure above 0: " $0; bad = 1 }
	END { exit bad || NR < 30 }' "$WORK/rdma.csv" || fail "too few figures"
for line in 'protocol-put. | auto | buffered | zerocopy | raw' 'protocol-get/auto:best' \
	'put+fence' 'get/asleep' 'put+fence-nodes'; do
	grep -q "$line" "$WORK/rdma.md" || fail "no table with $line"
done
for op in put+fence get fetch-add acc put-new get/asleep; do
	awk -F, -v op="$op" '$1 == op && $10 > 0 { found = 1 } END { exit !found }' \
		"$WORK/rdma.csv" || fail "no baseline of $op"
done
set -- "$WORK"/protocol-get-*.svg
grep -q '</svg>' "$1" || fail "no chart of protocols"
echo "ok vm/rdma/perf"
