#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# caf.sh - runs `bench caf -quick` on a node and between pretended nodes: the program with coarrays
# works over our runtime, and over OpenCoarrays if that is there; results are exact; figures, table
# and charts are there. No figure is judged. Input: BUILD WORK.
set -eu
bench=$BUILD/bench/bench
. "$(dirname "$0")/work.sh"
[ -x "$BUILD/bench/caf-armci" ] || { echo "skip: no gfortran"; exit 77; }

some="put put+sync-memory get put-row get-block atomic-define atomic-fetch-add lock+unlock critical
	critical-both event-post event-post+wait sync-all sync-images sync-memory co-sum
	co-broadcast allocate+deallocate"
for network in node nodes; do
	"$bench" caf -quick -runs 1 -network $network -out "$WORK" >"$WORK/log" 2>&1 ||
		fail "bench caf -network $network"
	for op in $some; do
		awk -F, -v op="$op" '
			$1 == op && $5 == "libcaf_armci" && $7 != 0 { found = 1 }
			END { exit !found }' "$WORK/$network.csv" ||
			fail "$network: no figure of $op"
	done
done
[ ! -x "$BUILD/bench/caf-openmpi" ] || grep -q '| `put:native` |' "$WORK/node.md" ||
	fail "nothing is held against OpenCoarrays"
grep -q '^| `put` | 1 MiB' "$WORK/node.md" || fail "no table"
grep -q '</svg>' "$WORK/node-put.svg" || fail "no chart"
"$bench" caf -only nothing >"$WORK/log" 2>&1 && fail "a figure that is not there"
grep -q 'nothing: no such figure' "$WORK/log" || fail "what is wrong is not told"
echo "ok perf/caf"
