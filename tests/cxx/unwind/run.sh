#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh PROGRAM - the job of unwind.cc ends with its exit status and its own line, on one node and
# on two; it must not hang.
#   BUILD=... WORK=... sh run.sh PROGRAM
set -u
mkdir -p "$WORK" && cd "$WORK" || exit 1
for nodes in 1 2; do
	status=0
	timeout -k 5 20 "$BUILD/bin/armcirun" -n 4 -nodes $nodes "$1" >log 2>&1 || status=$?
	[ $status -eq 3 ] &&
		grep -q '^armci: rank 3: shared_array::on: rank 4: out of range 0..3 (FAIL5)$' \
			log || {
		echo "FAIL on $nodes nodes: exit status $status"
		cat log
		exit 1
	}
	echo "ok a rank leaves by an exception, of 4 on $nodes nodes"
done
