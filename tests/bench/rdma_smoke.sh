#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rdma_smoke.sh ARMCI_PERF DIRECTORY - runs armci_perf -quick over RDMA in the virtual machine: every job ends well, every
# operation has a figure in every protocol, tables and plots are written. No figure is judged.
set -u
perf=$1 dir=$2
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$dir"

fail() { echo "FAIL: $*"; exit 1; }
sh "$here/rdma.sh" "$perf" "$dir" -quick -reps 2
status=$?
[ $status -ne 77 ] || exit 77
[ $status -eq 0 ] || fail "rdma.sh: exit status $status"

awk -F, 'NR > 1 && $6 != "%" && ($7 + 0 <= 0 || $9 + 0 <= 0) { print "no figure above 0: " $0; bad = 1 }
	END { exit bad || NR < 50 }' "$dir/rdma.csv" || fail "figures are missing"
for line in 'rdma-put. | auto | buffered | zerocopy | raw' 'rdma-get-strided. | auto | nic | host' \
	'rdma-put-strided/auto:best' 'rdma-put+fence-asleep'; do
	grep -q "$line" "$dir/rdma.md" || fail "no table with $line"
done
for plot in overlap fence; do
	grep -q '</svg>' "$dir/rdma-$plot.svg" || fail "no plot of $plot"
done
echo "ok vm/rdma/perf"
