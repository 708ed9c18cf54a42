#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# outage.sh - in the virtual machine: the link of a host's verbs device is down for some seconds in
# the middle of a program between two hosts. Its results are right, and it ends well. After 8 s the
# device has given up, so the connection was lost and made again.
#
#   OUTAGE_SECONDS="4 8" chooses
set -u
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
here=$here/../hosts
. "$here/launch.sh"
dir=${WORK:-$BUILD/tests/vm/outage}
mkdir -p "$dir" || exit 1
failures=0
run_none=${RUN_none:?}
program=$BUILD/tests/c/none/model

"$here/hosts.sh" down $prefix
trap '"$here/hosts.sh" down $prefix' EXIT
"$here/hosts.sh" up $prefix 2 || exit
launch_on hosts none 2 1
echo "hosts are up"

# outage SECONDS
outage() {
	log=$dir/$1.log
	began=$(cut -d' ' -f1 /proc/uptime)
	sh "$SOURCE/tests/limited.sh" 90 $launch env ARMCI_TRANSPORT=rdma ROUNDS_DIVISOR=4 \
		"$program" >"$log" 2>&1 &
	pid=$!
	until grep -q MODEL_SEED "$log" || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	sleep 0.5
	ip -n ${prefix}sw link set rxe_${prefix}b down
	sleep "$1"
	running=$(kill -0 $pid 2>/dev/null && echo yes || echo no)
	ip -n ${prefix}sw link set rxe_${prefix}b up
	status=0
	wait $pid || status=$?
	took=$(cut -d' ' -f1 /proc/uptime | awk -v b="$began" '{ printf "%.1f", $1 - b }')
	if [ $status -ne 0 ] || [ "$running" = no ]; then
		echo "FAIL link down for $1 s: exit $status, running meanwhile: $running"
		failures=$((failures + 1))
	fi
	[ "${1%.*}" -lt 8 ] || grep -q 'was lost (.*) and made again after' "$log" || {
		echo "FAIL link down for $1 s: no connection was lost and made again"
		failures=$((failures + 1))
	}
	echo "done link down for $1 s: status $status after $took s"
	tail -n 20 "$log" | sed 's/^/    | /'
}

for seconds in ${OUTAGE_SECONDS:-4 8}; do
	outage "$seconds"
done
[ $failures -eq 0 ] && echo "ok vm/outage"
