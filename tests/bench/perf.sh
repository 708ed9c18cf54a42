#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# perf.sh - runs armci_perf -quick, on a node and between pretended nodes, and checks that it works:
# every group has figures above 0, totals are exact, CSV and charts are written. No figure is
# judged: this may run on any machine, however busy. Input: BUILD WORK.
set -eu
perf=$BUILD/bin/armci_perf
. "$(dirname "$0")/work.sh"

# works NAME WANTED OPTION...: runs it, and wants figures of these operations.
works() {
	csv=$WORK/$1.csv wanted=$2
	svg=$WORK/$1
	shift 2
	"$perf" -quick -csv "$csv" -svg "$svg" "$@" || fail "armci_perf $*"
	awk -F, 'NR > 1 && $6 != "%" && $7 + 0 <= 0 { print "no figure above 0: " $0; bad = 1 }
		END { exit bad }' "$csv" || fail "see above"
	for op in $wanted; do
		grep -q "^$op," "$csv" || fail "$*: no figure of $op"
	done
	for chart in bandwidth strided message collective; do
		set -- "$svg/$chart"-*.svg
		grep -q '</svg>' "$1" || fail "no chart of $chart"
	done
}

ops="put get put-value get-value fence put+fence put-bandwidth get-bandwidth put-stream get-stream
	put-strided get-strided acc-strided put-vector get-vector nbput-implicit nbput-handles
	nbput-aggregate acc fetch-add fetch-add-contended swap lock+unlock lock-contended barrier
	msg-barrier malloc+free message bcast gop-sum init"
works node "$ops lock-least-share"
works nodes "$ops overlap-put overlap-get" -nodes 3
"$perf" -quick -launcher "$BUILD/bin/armcirun -n 3" small >"$WORK/launcher" ||
	fail "armci_perf -launcher"
grep -q '^put+fence .* 3 ' "$WORK/launcher" || fail "no figure on 3 ranks"
"$perf" nothing 2>"$WORK/wrong" && fail "a group that is not there"
grep -q 'no group "nothing"' "$WORK/wrong" || fail "what is wrong is not told"
echo "ok perf/tool"
