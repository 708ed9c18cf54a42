#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# growth.sh [NODESxRANKS...] - what a job costs each process as it grows: growth.c on pretended nodes under armcirun, whose
# table it prints. Connections are judged, by (process x nodes); threads, memory and the time to start are not.
#
#   BUILD=... CC_none=... RUN_none="... -n 2" sh growth.sh 8x2 2x32 8x8
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
. "$here/launch.sh"
dir=${WORK:-$BUILD/tests/hosts/growth}
[ -n "$CC_none" ] && [ -n "$RUN_none" ] || { echo "skip: no compiler or no armcirun"; exit 77; }
mkdir -p "$dir" || exit 1
$CC_none -std=gnu11 -O2 -g -Wall -Wextra ${WERROR-} -I"$SOURCE/include" -o "$dir/growth" "$here/growth.c" \
	-L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -larmci -lm || exit 1

for shape in "${@:-8x8}"; do
	launch_on nodes none "${shape%x*}" "${shape#*x}"
	timeout -k 10 200 $launch "$dir/growth" </dev/null || { echo "FAIL $shape: exit $?"; exit 1; }
done
