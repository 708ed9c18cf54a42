#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh TESTS PROGRAM... - what `make check` runs in its one boot of the virtual machine: the
# conformance tests of the RDMA transport (TESTS is the test program of internal/rdma), then
# programs over RDMA on two hosts with two ranks each. All else that runs in the machine is only in
# `make check-all`, and leaves these out.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tests=$1
shift
failed=0
"$here/../hosts/hosts.sh" up host 2 || exit
"$here/../hosts/inside.sh" hosta sh "$here/transport.sh" "$tests" conformance || failed=1
"$here/../hosts/hosts.sh" down host
ARMCI_TRANSPORT=rdma HOSTS_PROGRAMS="$*" sh "$here/../hosts/run.sh" hosts none 2x2 few || failed=1
[ $failed -ne 0 ] || echo "ok vm/check"
exit $failed
