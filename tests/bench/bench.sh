#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench.sh - runs bench -quick on a node, between pretended nodes and, where they can be made, hosts
# of network namespaces, and compares this build with itself: every job ends well, operations have
# figures and baselines, tables and charts are written. No figure is judged. Input: BUILD WORK.
set -eu
bench=$BUILD/bench/bench
here=$(cd "$(dirname "$0")/../../bench" && pwd)
. "$(dirname "$0")/work.sh"

# has CSV OPERATION...: figures of these operations with baselines.
has() {
	csv=$1
	shift
	for op; do
		awk -F, -v op="$op" \
			'$1 == op && $7 > 0 && $10 > 0 { found = 1 } END { exit !found }' "$csv" ||
			fail "$csv: no figure of $op beside a baseline"
	done
}

"$bench" -quick -csv "$WORK/node.csv" -markdown "$WORK/node.md" -svg "$WORK" ||
	fail "bench on a node"
has "$WORK/node.csv" put get put-value put+fence put-bandwidth put-strided acc-strided put-vector \
	nbput-aggregate acc \
	fetch-add-contended lock-contended barrier message acc-neighbours acc-same-array malloc-new
grep -q '^resident,' "$WORK/node.csv" || fail "no figure of resident memory"
grep -q '`put-bandwidth` | 1 KiB to 1 MiB' "$WORK/node.md" || fail "no table"
grep -q 'put, raw' "$WORK/bandwidth-2-ranks-of-a-node.svg" || fail "no chart with a baseline"

"$bench" -quick -nodes 3 -csv "$WORK/nodes.csv" || fail "bench between pretended nodes"
has "$WORK/nodes.csv" get/mixed get/spinning get/blocking get/asleep get-stream acc-strided \
	get-vector nbput-aggregate \
	lock+unlock barrier/mixed get-rare lock-beside-owner busy-lock crowded-get \
	fence-all/one fence-all/raw

"$bench" -quick -crowded 2 -busy -only barrier,one-sided -csv "$WORK/crowded.csv" ||
	fail "bench on a crowded machine"
grep -q '^barrier/asleep,' "$WORK/crowded.csv" || fail "no figure of ranks that sleep at once"
for mpi in openmpi mpich; do
	[ -x "$BUILD/bench/worker-$mpi" ] || continue
	"$bench" -quick -nodes 2 -mpi $mpi -only collective,one-sided -csv "$WORK/$mpi.csv" ||
		fail "bench beside $mpi over TCP"
	has "$WORK/$mpi.csv" bcast gop-sum one-sided-put one-sided-lock
done

status=0
"$here/nodes.sh" "$bench" "$WORK/hosts" -quick || status=$?
case $status in
0) has "$WORK/hosts/hosts-2.csv" get/mixed && has "$WORK/hosts/hosts-8.csv" fence-all/raw ;;
77) echo "no hosts here: pretended nodes only" ;;
*) fail "bench between hosts: exit status $status" ;;
esac

if [ -x "$BUILD/bench/worker-verbs" ] && [ -e "$BUILD/tests/softverbs/libibverbs.so.1" ]; then
	"$here/native.sh" "$bench" "$WORK/native" -quick -only small,acc,protocols,fences \
		>"$WORK/native.log" || {
		cat "$WORK/native.log"
		fail "bench over the verbs device in software"
	}
	has "$WORK/native/native.csv" put+fence acc acc/device protocol-get/auto:best \
		put+fence-nodes put+fence-nodes/together
	grep -q 'by the device' "$WORK"/native/acc-*.svg || fail "no chart of accumulates"
fi

if [ -x "$BUILD/bench/worker-ofi" ]; then
	OFI_PROVIDERS=shm "$here/ofi.sh" "$bench" "$WORK/ofi" -quick -only small,bandwidth ||
		fail "bench over libfabric"
	has "$WORK/ofi/ofi-shm.csv" put+fence/spinning get/spinning put-bandwidth get-bandwidth
fi

NETWORKS="node tcp" "$here/compare.sh" "$BUILD" "$BUILD" "$WORK/compare" -quick -runs 2 \
	-only small,rmw || fail "compare.sh"
grep -Eq '^\| `put\+fence` \| 8 B \| .* \| .* \| [0-9.]+ [0-9.]+ \|' "$WORK/compare/node.md" ||
	fail "no row of the comparison"
grep -q 'median of all ratios' "$WORK/compare/node.md" || fail "no median of the comparison"
echo "ok perf/bench"
