#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nodes_smoke.sh ARMCI_PERF DIRECTORY - runs armci_perf -quick between nodes, pretended ones and, where they can be made,
# hosts of network namespaces: every job ends well, every operation has a figure, plots are drawn. No figure is judged.
set -eu
perf=$1 dir=$2
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$dir"
mkdir -p "$dir"

fail() { echo "$*"; exit 1; }
"$perf" -quick -nodes 3 -csv "$dir/figures.csv" -svg "$dir" || fail "armci_perf failed"
for op in remote-get/mixed remote-get/spinning remote-get/blocking remote-get-asleep remote-put remote-get-stream \
	remote-acc-strided remote-get-vector remote-nbput-aggregate remote-lock-least-share remote-barrier/mixed \
	remote-busy-lock remote-crowded-get remote-overlap-crowded remote-fence-all/one; do
	grep -q "^$op," "$dir/figures.csv" || fail "no figure of $op"
done
for plot in bandwidth latency; do
	grep -q '</svg>' "$dir/remote-$plot.svg" || fail "no plot of $plot"
done

status=0
sh "$here/nodes.sh" "$perf" "$dir/hosts" -quick || status=$?
case $status in
0) grep -q '^remote-get/mixed,' "$dir/hosts/hosts-2.csv" && grep -q '^remote-fence-all/raw,' "$dir/hosts/hosts-8.csv" ||
	fail "figures between hosts are missing" ;;
77) echo "only pretended nodes" ;;
*) fail "armci_perf between hosts: exit $status" ;;
esac
echo "ok perf/nodes"
