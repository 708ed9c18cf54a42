#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# caf.sh BENCH DIRECTORY [OPTION]... - coarrays of Fortran with our runtime and with OpenCoarrays,
# by turns: on a node, between pretended nodes over TCP, between two hosts of network namespaces
# over TCP, and between pretended nodes over the software verbs device. Writes NETWORK.md, .csv and
# charts. BENCH is build/bench/bench, OPTIONs are those of `bench caf`. NETWORKS: which of "node
# nodes hosts rdma" (all). What this machine cannot do is left out, and said.
set -eu
[ $# -ge 2 ] || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
HOSTS=2 COMMAND=caf exec "$(dirname "$0")/windows.sh" "$@"
