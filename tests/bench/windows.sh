#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# windows.sh - runs `bench windows -quick` on a node: the plain MPI program works natively under
# each MPI, and over our library if that is built; figures, table and charts are there. No figure is
# judged. Input: BUILD WORK.
set -eu
bench=$BUILD/bench/bench
. "$(dirname "$0")/work.sh"

# has TITLE OPERATION...: figures of these operations in a series.
has() {
	title=$1
	shift
	for op; do
		awk -F, -v op="$op" -v title="$title" \
			'$1 == op && $5 == title && $7 != 0 { found = 1 } END { exit !found }' \
			"$WORK/node.csv" ||
			fail "$title: no figure of $op"
	done
}

series= some="pingpong-pscw pingpong-lock bidirectional bandwidth-put bandwidth-get overlap-time
	overlap-part skew-put skew-get put+flush get+flush fetch-op+flush acc+flush
	put-strided+flush lock+unlock-shared put+unlock sync-pscw sync-fence sync-lock origins"
for mpi in openmpi mpich; do
	[ ! -x "$BUILD/bench/windows-$mpi" ] || series=$series,$mpi
	[ ! -x "$BUILD/bench/windows-$mpi" ] || [ ! -e "$BUILD/lib/libarmci-mpirma.so" ] ||
		series=$series,armci-$mpi
done
[ -n "$series" ] || { echo "skip: no MPI"; exit 77; }

"$bench" windows -quick -runs 1 -ranks 2 -series "$series" -out "$WORK" >"$WORK/log" 2>&1 ||
	fail "bench windows"
for one in $(echo "$series" | tr , ' '); do
	case $one in
	openmpi) has "Open MPI" $some ;;
	mpich) has "MPICH" $some compare-swap+flush put+flush/create lock+unlock-exclusive/create ;;
	armci-openmpi)
		has "ours over Open MPI" $some compare-swap+flush put+flush/create \
			lock+unlock-exclusive/create
		;;
	armci-mpich)
		has "ours over MPICH" $some compare-swap+flush put+flush/create \
			lock+unlock-exclusive/create
		;;
	esac
done
case $series in
*armci*)
	grep -q '| `put+flush:native` |' "$WORK/node.md" ||
		fail "nothing of ours is held against the MPIs"
	;;
esac
grep -q '^| `bandwidth-put` | 4 KiB' "$WORK/node.md" || fail "no table"
grep -q '</svg>' "$WORK/node-bandwidth-put.svg" || fail "no chart"
"$bench" windows -only nothing >"$WORK/log" 2>&1 && fail "a figure that is not there"
grep -q 'nothing: no such figure' "$WORK/log" || fail "what is wrong is not told"
echo "ok perf/windows"
