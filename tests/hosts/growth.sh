#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# growth.sh [NODESxRANKS...] - what a job costs each process as it grows: growth.c, or another
# PROGRAM, on pretended nodes under armcirun: it prints the program's table, and how long it took.
# Connections are judged, by processes; threads, memory and time are not.
#
#   BUILD=... CC_none=... RUN_none="... -n 2" [PROGRAM=many] sh growth.sh 8x2 2x32 8x8
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
. "$here/launch.sh"
program=${PROGRAM:-growth}
dir=${WORK:-$BUILD/tests/hosts/$program}
[ -n "$CC_none" ] && [ -n "$RUN_none" ] || { echo "skip: no compiler or no armcirun"; exit 77; }
mkdir -p "$dir" || exit 1
$CC_none -std=gnu11 -O2 -g -Wall -Wextra ${WERROR-} -I"$SOURCE/include" -o "$dir/$program" \
	"$here/$program.c" -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -larmci -lm || exit 1

for shape in "${@:-8x8}"; do
	launch_on nodes none "${shape%x*}" "${shape#*x}"
	needed=$((ranks * 12)) # MiB; without them the system would end some process
	free=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
	[ "$free" -ge $needed ] || {
		echo "skip: $ranks processes may need $needed MiB of memory, $free are left"
		exit 77
	}
	begin=$(date +%s%N)
	timeout -k 10 200 $launch "$dir/$program" </dev/null || {
		echo "FAIL $shape: exit $?"
		exit 1
	}
	echo "  $ranks processes from start to end in $((($(date +%s%N) - begin) / 1000000)) ms"
done
