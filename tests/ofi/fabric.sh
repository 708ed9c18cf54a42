#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fabric.sh TESTS [OPTION]... - the tests of internal/ofi, a program, over the provider of over.sh.
# They pass by skipping where there is none; here that is a failure. Those that a provider cannot
# pass are skipped by name.
set -u
log=${WORK:-/run}/fabric.log
mkdir -p "$(dirname "$log")"
tests=$1
shift
status=0
"$tests" -test.v -test.timeout=5m "$@" >"$log" 2>&1 || status=$?
grep -q -e '--- PASS: TestConformance/2x2/close ' "$log" || {
	echo "FAIL TestConformance/2x2 has not run"
	status=1
}
grep -h -e '--- SKIP' "$log"
[ $status -eq 0 ] || cat "$log"
echo "$(grep -c -e '--- PASS' "$log") tests over ${ARMCI_OFI_PROVIDER:-no provider}," \
	"exit status $status"
exit $status
