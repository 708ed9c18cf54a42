#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fabric.sh TESTS [OPTION]... - the tests of internal/ofi, a program, over the provider of over.sh. They pass by skipping where
# there is none; here that is a failure.
set -u
log=${WORK:-/run}/fabric.log
mkdir -p "$(dirname "$log")"
tests=$1
shift
status=0
"$tests" -test.v -test.timeout=5m "$@" >"$log" 2>&1 || status=$?
if grep -e '--- SKIP' "$log"; then
	echo "FAIL tests were skipped"
	status=1
fi
[ $status -eq 0 ] || cat "$log"
echo "$(grep -c -e '--- PASS' "$log") tests over ${ARMCI_OFI_PROVIDER:-no provider}, exit status $status"
exit $status
