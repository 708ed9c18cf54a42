#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# inside.sh HOST COMMAND [ARGUMENT]... - runs a command on a host that hosts.sh has made: with its network and names, its
# own host name, IPC objects and /dev/shm, so that a library that takes two hosts for one finds nothing to share there.
# The process becomes the command: it can be signalled and waited for.
host=$1
shift
# shellcheck disable=SC2016 # for the inner shell
exec ip netns exec "$host" unshare --uts --ipc --mount sh -c \
	'hostname "$1" && shift && mount -t tmpfs -o size=1g tmpfs /dev/shm && exec "$@"' sh "$host" "$@"
