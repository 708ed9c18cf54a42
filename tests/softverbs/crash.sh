#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# crash.sh - a fault in the library of a network, in a call of ours, is reported once, with the
# place and the frames of both libraries (run by with.sh).
#
#   BUILD=... sh crash.sh
set -u
failures=0
ulimit -c 0

# crashes CALL:N: the Nth call of the device ends in SIGSEGV while the job starts.
crashes() {
	log=$(SOFTVERBS_REFUSE=$1:crash ARMCI_TRANSPORT=rdma timeout 30 "$BUILD/bin/armcirun" \
		-n 2 -nodes 2 "$BUILD/tests/c/none/notify" 2>&1)
	status=$?
	where="(ARMCI|armci|a thread of the library)"
	for line in "crashed with SIGSEGV at address 0x0 in $where" "  C  refused " "  C  .*vb_"; do
		echo "$log" | grep -qE "^\[[01]@node[01]\] $line" || {
			failures=$((failures + 1))
			echo "FAIL $1: no line \"$line\", status $status:"
			echo "$log" | sed 's/^/    | /' | head -n 20
		}
	done
}

crashes post_send:1
crashes post_send:20
crashes reg_mr:1
echo "$failures failures"
[ $failures -eq 0 ]
