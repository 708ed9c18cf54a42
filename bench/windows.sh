#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# windows.sh BENCH DIRECTORY [OPTION]... - one-sided communication of MPI natively and over our
# preloaded library, by turns: on a node, between pretended nodes over TCP, between four hosts of
# network namespaces over TCP, and between pretended nodes over the software verbs device
# (../tests/softverbs). Writes NETWORK.md, .csv and charts. BENCH is build/bench/bench, OPTIONs are
# those of `bench windows`. NETWORKS: which of "node nodes hosts rdma" (all). What this machine
# cannot do is left out, and said.
set -eu
[ $# -ge 2 ] || { sed -n '3,8s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
bench=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
mkdir -p "$2"
dir=$(cd "$2" && pwd)
shift 2
command=${COMMAND:-windows} # or caf (caf.sh)

failed=0
for network in ${NETWORKS:-node nodes hosts rdma}; do
	status=0
	case $network in
	node | nodes) "$bench" $command -network "$network" -out "$dir" "$@" || status=$? ;;
	hosts) (
		. "$here/hosts.sh"
		with_hosts "${HOSTS:-4}" "$bench" $command -out "$dir" "$@"
	) || status=$? ;;
	rdma)
		device=$(dirname "$bench")/../tests/softverbs
		[ -e "$device/libibverbs.so.1" ] || status=77
		export SOFTVERBS_UCX=1 # for MPIs
		[ $status -ne 0 ] || "$here/../tests/softverbs/with.sh" "$device" "$bench" \
			$command -network rdma -out "$dir" "$@" || status=$?
		;;
	*) echo "no network $network" >&2 && exit 2 ;;
	esac
	case $status in
	0) ;;
	77) echo "$network: left out, not possible here" ;;
	*) echo "$network: exit status $status" && failed=1 ;;
	esac
done
exit $failed
