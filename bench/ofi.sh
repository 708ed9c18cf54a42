#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ofi.sh BENCH DIRECTORY [OPTION]... - the figures over libfabric that docs/validation.md shows,
# beside raw libfabric over the same provider: tcp and udp between two hosts of a network of their
# own (network namespaces), shm between two pretended nodes. Writes ofi-PROVIDER.txt, .csv and .md.
# BENCH is build/bench/bench, OPTIONs are its. OFI_PROVIDERS: which of "tcp udp shm" (all).
set -eu
[ $# -ge 2 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
. "$here/hosts.sh"
bench=$1 dir=$2
shift 2
mkdir -p "$dir"

# on SHORT PROVIDER OPTION...: measures over a provider.
on() {
	short=$1 provider=$2 status=0
	shift 2
	set -- "$bench" -ofi "$provider" -csv "$dir/ofi-$short.csv" \
		-markdown "$dir/ofi-$short.md" "$@"
	case $short in
	shm) "$@" -nodes 2 >"$dir/ofi-$short.txt" 2>&1 || status=$? ;;
	*) with_hosts 2 "$@" >"$dir/ofi-$short.txt" 2>&1 || status=$? ;;
	esac
	cat "$dir/ofi-$short.txt"
	return $status
}

for provider in ${OFI_PROVIDERS:-tcp udp shm}; do
	case $provider in
	tcp) on tcp 'tcp;ofi_rxm' "$@" ;;
	udp) on udp 'udp;ofi_rxd' "$@" ;;
	*) on "$provider" "$provider" "$@" ;;
	esac
done
