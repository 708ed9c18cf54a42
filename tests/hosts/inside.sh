#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# inside.sh HOST COMMAND [ARGUMENT]... - runs a command on a host that hosts.sh has made: with its
# network and names, its own host name, IPC objects and /dev/shm, so that a library that takes two
# hosts for one finds nothing to share there, and with its own verbs device, if it has one: of the
# kernel's, or that of ../softverbs. The process becomes the command: it can be signalled and waited
# for.
#
# With HOSTS_FIRST=1 it has the first network namespace instead of the host's own, and so the
# interfaces of the kernel's verbs devices (../vm/devices.sh), which have the hosts' addresses, too.
host=$1
shift
# shellcheck disable=SC2016 # for the inner shell
set -- unshare --uts --ipc --mount sh -c '
	hostname "$1" && mount -t tmpfs -o size=1g tmpfs /dev/shm || exit
	[ "${HOSTS_FIRST:-0}" = 0 ] || mount --bind "/etc/netns/$1/hosts" /etc/hosts || exit
	[ ! -d "/dev/infiniband.$1" ] || mount --bind "/dev/infiniband.$1" /dev/infiniband || exit
	[ ! -d "${ARMCI_RDMA_SYSFS:-}.$1" ] ||
		mount --bind "$ARMCI_RDMA_SYSFS.$1" "$ARMCI_RDMA_SYSFS" || exit
	shift
	exec "$@"' sh "$host" "$@"
[ "${HOSTS_FIRST:-0}" != 0 ] || set -- ip netns exec "$host" "$@"
exec "$@"
