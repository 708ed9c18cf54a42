#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# waits.sh - runs `bench -waits` for two rows on a node with two short starts, beside an MPI and
# beside this build itself: each row has figures in both conditions, from as many starts as were
# asked for, and a verdict on each of its bars. No figure is judged. Input: BUILD WORK.
set -eu
bench=$BUILD/bench/bench
. "$(dirname "$0")/work.sh"
mpi=none
for one in openmpi mpich; do [ ! -x "$BUILD/bench/waits-$one" ] || mpi=$one; done

"$bench" -waits -quick -starts 2 -rows '^node-2/(barrier|notify)$' -mpi $mpi -beside "$BUILD" \
	-csv "$WORK/waits.csv" -markdown "$WORK/waits.md" >"$WORK/log" 2>&1 || fail "bench -waits"

# figures WAY OPERATION: of two starts in each condition.
figures() {
	[ "$(grep -c "^$2,$1,8,2,\"node-2, [a-z]*\",ns,.*,[0-9.e+]* [0-9.e+]*,$" \
		"$WORK/waits.csv")" = 2 ] ||
		fail "not two figures of $2 by $1 in each condition"
}

# verdicts OPERATION COLUMNS: a figure, its bar and a verdict in both conditions, in these columns.
verdicts() {
	[ "$(grep -c "^| .$1. |.* | $2" "$WORK/waits.md")" = 2 ] || fail "no verdicts on $1: $2"
}
held=': [*]*[yn][eo]s*[*]*'
for op in barrier notify; do
	figures ours $op
	figures before $op
	verdicts $op "[0-9.]* | <=1.05$held | 2 |$"
done
if [ $mpi != none ]; then
	figures $mpi barrier
	verdicts barrier "[0-9.]* | <=1$held | [0-9.]* | <=[12] of the*[irs median]*$held | "
fi
grep -q 'of [1-9][0-9]* bars held' "$WORK/waits.md" || fail "no sum of the verdicts"
! "$bench" -waits -rows nothing >"$WORK/log" 2>&1 || fail "a row that is not there was taken"
grep -q 'nothing: no such row' "$WORK/log" || fail "what is wrong is not told"
echo "ok perf/waits"
