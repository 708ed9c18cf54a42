#!/bin/sh
# Runs armci_perf in quick mode and checks that it works: every job ends well, every operation has a figure above 0,
# totals are exact, CSV and plots are written. No figure is judged: this may run on any machine, however busy.
# SPDX-License-Identifier: BSD-3-Clause
# usage: smoke.sh ARMCI_PERF DIRECTORY
set -eu
perf=$1 dir=$2
rm -rf "$dir"
mkdir -p "$dir"

"$perf" -quick -csv "$dir/figures.csv" -svg "$dir" >"$dir/table" 2>"$dir/messages" || {
	cat "$dir/table" "$dir/messages"
	echo "armci_perf failed"
	exit 1
}
cat "$dir/table"

fail() { echo "$*"; exit 1; }
grep -q ' 0 figures' "$dir/table" && fail "no figures"
awk -F, 'NR > 1 && $7 + 0 <= 0 && $1 !~ /^idle/ { print "no figure above 0: " $0; bad = 1 } END { exit bad }' \
	"$dir/figures.csv" || fail "see above"
for op in put get put-value get-value put-bandwidth put-strided put-vector acc acc-same-array fetch-add-contended \
	lock-contended lock-least-share barrier malloc+free malloc-new bcast gop-sum message nbput-aggregate init resident; do
	grep -q "^$op," "$dir/figures.csv" || fail "no figure of $op"
done
for plot in put-bandwidth put-strided message; do
	set -- "$dir/$plot"*.svg
	grep -q '</svg>' "$1" || fail "no plot of $plot"
done
grep -Eq '([0-9]+) of \1 totals exact' "$dir/table" || fail "totals not exact"
echo "ok perf/smoke"
