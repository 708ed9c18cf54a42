#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# agent.sh [OPTION]... HOST COMMAND... - what ssh is between real hosts: has a shell run the command
# on a host that hosts.sh has made, for Open MPI (plm_rsh_agent), MPICH (-launcher-exec) and
# armcirun (-agent). Options of ssh are ignored.
while :; do
	case $1 in
	-o | -p | -l | -i | -F | -E) shift 2 ;; # with a value
	-*) shift ;;
	*) break ;;
	esac
done
host=$1
shift
exec "$(dirname "$0")/inside.sh" "$host" sh -c "$*"
