#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# outage.sh - programs over the software device while it fails for a time: its port is down, or
# single requests get no answer, be they executed or not. The programs check their results; lines
# say that the port, or connections, were lost and came back.
#
#   BUILD=... RUN_none="... -n 2" SOFTVERBS_DIR=... sh outage.sh
#   OUTAGE_PROGRAMS="model ..." chooses the programs of tests/c
set -u
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
WORK=${WORK:-$BUILD/tests/softverbs/outage}
mkdir -p "$WORK" || exit 1
programs=${OUTAGE_PROGRAMS:-model notify mutex accumulate strided}
failures=0

# job CASE PROGRAM SETTING...: runs a program on two nodes with two ranks each.
job() {
	case=$1 program=$BUILD/tests/c/none/$2 log=$WORK/$1.log
	shift 2
	[ -x "$program" ] || { echo "skip $case: not built"; return; }
	status=0
	began=$(cut -d' ' -f1 /proc/uptime)
	sh "$SOURCE/tests/limited.sh" 120 ${RUN_none% *} 4 -nodes 2 env ARMCI_TRANSPORT=rdma \
		ARMCI_TIMEOUT=20s ROUNDS_DIVISOR=10 "$@" "$program" >"$log" 2>&1 || status=$?
	took=$(cut -d' ' -f1 /proc/uptime | awk -v b="$began" '{ printf "%.1f", $1 - b }')
	if [ $status -ne 0 ]; then
		echo "FAIL $case: exit $status"
		tail -n 20 "$log" | sed 's/^/    | /'
		failures=$((failures + 1))
	fi
	lines=$(grep -c -E "$said" "$log")
	seen=$((seen + lines))
	echo "done $case: status $status after $took s, $lines lines of faults"
}

# With the port down for 0.3 s, less than a queue pair retries, and for 3 s.
seen=0 said='port has the link again, after [0-9.]*m?s'
for one in $programs; do
	job "port-$one" "$one" SOFTVERBS_PORT_DOWN_AFTER=4000 SOFTVERBS_PORT_DOWN_MS=300
done
job port-long model SOFTVERBS_PORT_DOWN_AFTER=20000 SOFTVERBS_PORT_DOWN_MS=3000
[ $seen -gt 0 ] || { echo "FAIL no port was lost"; failures=$((failures + 1)); }

seen=0 said='connection to rank . .* was lost .* and made again after'
for one in $programs; do
	job "break-$one" "$one" SOFTVERBS_BREAK_EVERY=1000
done
[ $seen -gt 0 ] || { echo "FAIL no connection was made again"; failures=$((failures + 1)); }
echo "$failures failures"
[ $failures -eq 0 ]
