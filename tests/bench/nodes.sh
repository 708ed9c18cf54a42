#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nodes.sh ARMCI_PERF DIRECTORY [OPTION]... - the figures and plots between nodes that docs/validation.md shows: on two
# hosts of a network of their own (network namespaces and a veth pair); what all nodes do at once on three and on eight
# (a bridge). Writes hosts-N.txt, .csv and .md, and plots, remote-*.svg. OPTIONs are armci_perf's. Exit status 77: no
# namespaces here.
set -eu
[ $# -ge 2 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")/../hosts" && pwd)
. "$here/launch.sh"
perf=$1 dir=$2
shift 2
prefix=armcip # not that of the tests
mkdir -p "$dir"

trap '"$here/hosts.sh" down $prefix' EXIT
trap 'exit 1' HUP INT TERM

# on N OPTION...: the hosts are there while armci_perf runs on the first of them.
on() {
	n=$1
	shift
	"$here/hosts.sh" down $prefix
	"$here/hosts.sh" up $prefix "$n" || exit
	"$here/inside.sh" ${prefix}a "$perf" -hosts "$(hosts_list "$n")" -agent "$here/agent.sh" -csv "$dir/hosts-$n.csv" \
		-markdown "$dir/hosts-$n.md" "$@" >"$dir/hosts-$n.txt" ||
		{ cat "$dir/hosts-$n.txt"; echo "FAIL: armci_perf on $n hosts"; exit 1; }
	cat "$dir/hosts-$n.txt"
}

on 2 -svg "$dir" "$@"
on 3 -only remote-all "$@"
on 8 -only remote-all "$@"
