#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# compare.sh BEFORE AFTER DIRECTORY [OPTION]... - measures two builds (directories that `make all`
# filled) in turns, in three runs: on a node, over TCP between two hosts of network namespaces, over
# the software verbs device (../tests/softverbs) and over Soft-RoCE in the virtual machine. Writes
# node.md, tcp.md, softverbs.md and rdma.md with a line for each figure (after/before by run; above
# 1 is slower), and .csv. NETWORKS: which of "node tcp softverbs rdma" (all). BENCH: the program
# (AFTER/bench/bench). OPTIONs are bench's: -reps 5, -only small,bandwidth, -runs 5, -starts 3. What
# this machine cannot do is left out, and said; softverbs needs what `make check` builds.
set -eu
[ $# -ge 3 ] || { sed -n '3,11s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
before=$(cd "$1" && pwd) after=$(cd "$2" && pwd)
mkdir -p "$3"
dir=$(cd "$3" && pwd)
shift 3
bench=${BENCH:-$after/bench/bench}
[ -x "$bench" ] || { echo "no $bench: cmake --build $after --target armci_bench" >&2; exit 2; }

# report NETWORK STATUS
report() {
	case $2 in
	0) tail -n 1 "$dir/$1.md" | sed "s/^/$1: /" ;;
	77) echo "$1: left out, not possible here" ;;
	*) echo "$1: bench ended with exit status $2" && failed=1 ;;
	esac
}

failed=0
for network in ${NETWORKS:-node tcp softverbs rdma}; do
	status=0
	rm -f "$dir/$network.md"
	case $network in
	node)
		"$bench" -build "$after" -against "$before" -csv "$dir/node.csv" \
			-markdown "$dir/node.md" "$@" || status=$?
		;;
	tcp) (
		. "$here/hosts.sh"
		with_hosts 2 "$bench" -build "$after" -against "$before" -csv "$dir/tcp.csv" \
			-markdown "$dir/tcp.md" "$@"
	) || status=$? ;;
	softverbs) # in the usual place: an earlier build may look nowhere else
		[ -e "$after/tests/softverbs/libibverbs.so.1" ] || status=77
		[ $status -ne 0 ] || unshare -m "$here/../tests/softverbs/with.sh" \
			"$after/tests/softverbs" sh -c 'mount -t tmpfs tmpfs /sys/class &&
			cp -r "$ARMCI_RDMA_SYSFS" /sys/class/infiniband && exec "$@"' - \
			"$bench" -rdma -nodes 2 -build "$after" -against "$before" \
			-csv "$dir/softverbs.csv" -markdown "$dir/softverbs.md" "$@" || status=$? ;;
	rdma) RDMA_HOSTS=2 RDMA_SECONDS=${RDMA_SECONDS:-7200} BUILD=$after "$here/rdma.sh" \
		"$bench" "$dir" -build "$after" -against "$before" "$@" || status=$? ;;
	*) echo "no network $network" >&2 && exit 2 ;;
	esac
	report "$network" $status
done
exit $failed
