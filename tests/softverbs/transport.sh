#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# transport.sh TESTS [PATTERN] - all tests of internal/rdma (TESTS is its test program), or some,
# over the device that with.sh gives. They skip where there is no device; here that is a failure, as
# it is if those over a device are not among them.
set -u
must="TestFabric TestConformance TestForced TestManyAtOnce TestChangedMemory TestIdlePeerKilled
	TestPeerStopped"
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
[ $# -eq 1 ] || must=
"$1" -test.v -test.timeout 5m -test.run "${2:-.}" >"$log" 2>&1
failed=$?
[ $failed -eq 0 ] || cat "$log"
if grep -e '--- SKIP' "$log"; then
	echo "FAIL tests were skipped"
	failed=1
fi
for test in $must; do
	grep -q -e "--- PASS: $test " "$log" || { echo "FAIL $test has not passed"; failed=1; }
done
[ "$failed" -ne 0 ] || echo "ok: $(grep -c -e '--- PASS: Test' "$log") tests"
exit "$failed"
