#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# transport.sh TESTS conformance|rest - on a host of the virtual machine: the tests of
# internal/rdma, a program, over the host's device: conformance with the settings that users have,
# or of the others what depends on the device. They pass by skipping where there is no device; here
# that is a failure, as it is if those over a device are not among them.
set -u
case $2 in
conformance)
	which='-test.run=^TestConformance$/^2x2$'
	must="TestConformance TestConformance/2x2/messages/fenced"
	;;
rest)
	# What is the engine's, chosen by tests only, or a time limit runs over the software device
	# (tests/softverbs), which is a hundred times faster. TestUserfaultfdRefused runs all of
	# TestForced and TestManyAtOnce once more.
	engine='baseline|register|overlap|host-atomic|hardly_any|nothing_stays|push|few_buffers'
	skip="^TestConformance\$/^(2x2|$engine|unequal_buffers|buffered)|^TestConformancePrivate\$"
	skip="$skip|^TestFabric\$/^usual\$/^(close|refused)\$/^(both|origin)\$"
	skip="$skip|^TestFabric\$/^buffered\$|^TestForced\$"
	skip="$skip|^TestForcedContiguous\$/^(baseline|register|overlap)\$"
	skip="$skip|^TestManyAtOnce\$/^(buffered|zerocopy)|^TestNobodyAnswers\$|^TestMixBounded\$"
	which="-test.skip=$skip"
	must="TestConformance TestManyAtOnce TestChangedMemory TestIdlePeerKilled TestPeerStopped"
	must="$must TestUserfaultfdRefused"
	;;
esac
log=/run/transport.log
status=/run/transport.status
{
	"$1" -test.v -test.timeout 20m "$which" 2>&1
	echo $? >$status
} | tee $log
failed=$(cat $status)
if grep -e '--- SKIP' $log; then
	echo "FAIL tests were skipped"
	failed=1
fi
for test in $must; do
	grep -q -e "--- PASS: $test " $log || { echo "FAIL $test has not passed"; failed=1; }
done
[ "$failed" -ne 0 ] ||
	echo "ok: $(grep -c -e '--- PASS: Test' $log) tests over $(ls /sys/class/infiniband)"
exit "$failed"
