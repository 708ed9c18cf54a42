#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# agent.sh [OPTION]... HOST COMMAND... - what ssh is between real hosts: runs the command on one that hosts.sh has made,
# for Open MPI (plm_rsh_agent), MPICH (-launcher-exec) and armcirun (-agent).
#
# The command gets the host's network and names, its own host name, IPC objects and /dev/shm: a library that takes two
# hosts for one finds nothing to share there. Options of ssh are ignored.
while :; do
	case $1 in
	-o | -p | -l | -i | -F | -E) shift 2 ;; # with a value
	-*) shift ;;
	*) break ;;
	esac
done
host=$1
shift
# shellcheck disable=SC2016 # for the inner shell
exec ip netns exec "$host" unshare --uts --ipc --mount sh -c \
	'hostname "$1" && mount -t tmpfs -o size=1g tmpfs /dev/shm && exec sh -c "$2"' sh "$host" "$*"
