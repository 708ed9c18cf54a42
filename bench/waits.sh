#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# waits.sh BENCH DIRECTORY [OPTION]... - how ranks wait for each other, beside the MPIs (bench
# -waits): on a node, and between up to nine hosts of network namespaces of this machine; without
# the right to make them, between pretended nodes. Writes waits.md and waits.csv. BENCH is
# build/bench/bench, OPTIONs are those of `bench -waits`: -starts 20, -rows REGEXP, -beside DIR.
set -eu
[ $# -ge 2 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
. "$here/hosts.sh"
prefix=armciw # beside other benchmarks between hosts
bench=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
mkdir -p "$2"
dir=$(cd "$2" && pwd)
shift 2

set -- "$bench" -waits -csv "$dir/waits.csv" -markdown "$dir/waits.md" "$@"
status=0
with_hosts 9 "$@" || status=$?
[ $status -eq 77 ] || exit $status
echo "hosts are pretended nodes of this one"
"$@"
