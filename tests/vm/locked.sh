#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# locked.sh - in the virtual machine, where a process may pin 8 MiB: the programs of HOSTS_PROGRAMS
# on two hosts give the results that they give elsewhere. A process that may not pin what it wants
# says so once at most: its budget is made for the limit.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ "$(ulimit -l)" = 8192 ] || { echo "FAIL $(ulimit -l) KiB may be locked, not 8192"; exit 1; }
"$here/../hosts/run.sh" hosts none 2x1 few || exit
logs=${WORK:-$BUILD/tests/hosts/none/2x1}
for program in $HOSTS_PROGRAMS; do
	warnings=$(grep -c 'cannot be pinned' "$logs/c.$program.log")
	[ "${warnings:-3}" -le 2 ] || {
		echo "FAIL $program: more than one warning for each of two processes"
		exit 1
	}
done
