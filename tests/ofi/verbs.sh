#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# verbs.sh TESTS [OPTION]... - what runs over libfabric's verbs provider in one boot of the virtual
# machine: the conformance tests (TESTS is the test program of internal/ofi, OPTIONs are its), the
# programs that HOSTS_PROGRAMS names on two hosts, the faults of HOSTS_PARTS. The hosts have the
# first network namespace in common: rdma_cm, by which that provider connects, finds the device of
# an address in the namespace of the device only.
set -u
here=$(cd "$(dirname "$0")" && pwd)
hosts=$here/../hosts
failed=0
export HOSTS_FIRST=1
"$hosts/hosts.sh" up host 2 || exit
"$hosts/inside.sh" hosta sh "$here/over.sh" verbs sh "$here/fabric.sh" "$@" || failed=1
"$hosts/hosts.sh" down host
sh "$here/over.sh" verbs sh "$hosts/run.sh" hosts none 2x1 few || failed=1
sh "$here/over.sh" verbs sh "$hosts/fault.sh" none || failed=1
[ $failed -ne 0 ] || echo "ok ofi/verbs"
exit $failed
