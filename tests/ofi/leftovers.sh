#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# leftovers.sh - a job over libfabric's provider shm removes what killed processes have left in
# /dev/shm, and nothing of a living one. To be run by over.sh.
#
#   BUILD=... SOURCE=... CC_none=... RUN_none="... -n 2" sh over.sh shm sh leftovers.sh
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
. "$here/../fault/job.sh"
flavour=none
dir=${WORK:-$BUILD/tests/ofi/leftovers}
mkdir -p "$dir" || exit 1
$CC_none -std=gnu11 -O2 -g -Wall -Wextra ${WERROR-} -I"$SOURCE/include" -o "$dir/victim" \
	"$here/../fault/victim.c" -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -larmci -lm || exit 1

case="files of killed processes"
launch="$RUN_none -nodes 2"
gone=$(sh -c 'echo $$')
echo left >"/dev/shm/$gone:0:1"
echo lives >"/dev/shm/$$:0:1"
start "$dir/victim" "$dir/pids" exit3 0
began=$(now)
finish 20
clean
[ $status -eq 3 ] || fail "exit status $status"
[ ! -e "/dev/shm/$gone:0:1" ] || fail "/dev/shm/$gone:0:1 stays"
[ -e "/dev/shm/$$:0:1" ] || fail "/dev/shm/$$:0:1 is gone, whose process lives"
rm -f "/dev/shm/$gone:0:1" "/dev/shm/$$:0:1"
echo "done $case: status $status after $took s"
[ $failures -eq 0 ]
