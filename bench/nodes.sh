#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nodes.sh BENCH DIRECTORY [OPTION]... - the figures and plots between nodes that docs/validation.md
# shows: on two hosts of a network of their own (network namespaces and a veth pair); what all nodes
# do at once on three and on eight (a bridge). Writes hosts-N.txt, .csv and .md, and plots. BENCH is
# build/bench/bench, OPTIONs are its. Exit status 77: no namespaces here.
set -eu
[ $# -ge 2 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
. "$here/hosts.sh"
bench=$1 dir=$2
shift 2
mkdir -p "$dir"

# on N OPTION...: measures on N hosts.
on() {
	n=$1
	shift
	with_hosts "$n" "$bench" -csv "$dir/hosts-$n.csv" -markdown "$dir/hosts-$n.md" "$@" \
		>"$dir/hosts-$n.txt" || {
		status=$?
		cat "$dir/hosts-$n.txt"
		echo "$n hosts: exit status $status"
		exit $status
	}
	cat "$dir/hosts-$n.txt"
}

on 2 -svg "$dir" "$@"
on 3 -only all-nodes "$@"
on 8 -only all-nodes "$@"
