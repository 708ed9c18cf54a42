#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rdma_smoke.sh ARMCI_PERF DIRECTORY - runs armci_perf -quick over RDMA in the virtual machine: every job ends well,
# operations have figures, contiguous ones in every protocol, tables and plots are written. No figure is judged. Settings
# of strided transfers are only one more of the kind, with five ranks on a node: they take too long for a test.
set -u
perf=$1 dir=$2
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$dir"

fail() { echo "FAIL: $*"; exit 1; }
RDMA_HOSTS=3 sh "$here/rdma.sh" "$perf" "$dir" -quick -reps 2 \
	-only rdma-small,rdma-memory,rdma-overlap,rdma-contiguous,rdma-fences
status=$?
[ $status -ne 77 ] || exit 77
[ $status -eq 0 ] || fail "rdma.sh: exit status $status"

awk -F, 'NR > 1 && $6 != "%" && ($7 + 0 <= 0 || $9 + 0 <= 0) { print "no figure above 0: " $0; bad = 1 }
	END { exit bad || NR < 30 }' "$dir/rdma.csv" || fail "too few figures"
for line in 'rdma-put. | auto | buffered | zerocopy | raw' 'rdma-get/auto:best' 'rdma-put+fence' 'rdma-fence-all'; do
	grep -q "$line" "$dir/rdma.md" || fail "no table with $line"
done
for plot in overlap fence; do
	grep -q '</svg>' "$dir/rdma-$plot.svg" || fail "no plot of $plot"
done
echo "ok vm/rdma/perf"
