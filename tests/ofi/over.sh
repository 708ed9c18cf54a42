#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# over.sh tcp|udp|shm|verbs COMMAND [ARGUMENT]... - runs a command with the library over that
# provider of libfabric, with what libfabric lays over it to make it reliable. Exit status 77: there
# is no such provider here.
set -u
case ${1:-} in
tcp) provider='tcp;ofi_rxm' ;;
udp) provider='udp;ofi_rxd' ;;
shm) provider=shm ;;
verbs) provider='verbs;ofi_rxm' ;;
*)
	sed -n '3,5s/^# //p' "$0" >&2
	exit 2
	;;
esac
command -v fi_info >/dev/null || {
	echo "skip: no fi_info (packages libfabric1, libfabric-bin)"
	exit 77
}
# The virtual machine's devices come and go with its hosts.
[ "$1" = verbs ] || IPATH_NO_BACKTRACE=1 fi_info -p "$provider" >/dev/null 2>&1 ||
	{ echo "skip: libfabric offers no $provider here"; exit 77; }
short=$1
shift
export ARMCI_TRANSPORT=ofi ARMCI_OFI_PROVIDER="$provider"
[ "$short" = udp ] || exec "$@"
# ofi_rxd loses its way now and then when packets are lost, which a busy machine does
# (docs/protocols.md): a second time counts, and what the first one said is shown.
status=0
"$@" || status=$?
case $status in 0 | 77) exit $status ;; esac
echo "over ofi_rxd this failed once; again:"
exec "$@"
