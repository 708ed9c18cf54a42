# SPDX-License-Identifier: BSD-3-Clause
# limits.sh - memory that somebody limits: a control group, the address space, locked memory. A refusal is one line on
# every rank and a nonzero return, and the job goes on; nothing may be killed. It ends only what it started.
#
#   BUILD=... SOURCE=... CC_none=... RUN_none="... -n 2" WORK=... sh limits.sh
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
WORK=${WORK:-$BUILD/tests/limits}
LIBDIR=${LIBDIR:-$BUILD/lib}
dir=$WORK
mkdir -p "$dir" || exit 1
. "$here/job.sh"
launch=$RUN_none
$CC_none -std=gnu11 -O2 -g -Wall -Wextra -Werror -I"$SOURCE/include" -o "$dir/steps" "$here/steps.c" -L"$LIBDIR" \
	-Wl,-rpath,"$LIBDIR" -larmci || exit 1
ARMCI_ERRORS=return
export ARMCI_ERRORS

# run COMMAND...: the job, under what the caller has set up.
run() {
	began=$(now)
	"$@" >"$dir/out" 2>"$dir/err"
	status=$?
	echo "done $case: status $status after $(since "$began") s; $(cat "$dir/out")"
}

# refused PATTERN: on both ranks, once each.
refused() {
	[ $status -eq 0 ] || fail "exit status $status"
	for rank in 0 1; do
		n=$(grep -E -c "^\[$rank@[^]]*\] ARMCI_Malloc: .*$1" "$dir/err")
		[ "$n" -eq 1 ] || fail "$n lines of rank $rank match \"$1\", not 1"
	done
}

# Makes a control group with a limit of 500 MiB and sets group; false and why if that is not possible.
make_group() {
	own=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
	for parent in "/sys/fs/cgroup/memory$own" /sys/fs/cgroup/memory "/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)" \
		/sys/fs/cgroup; do
		group=$parent/armci-limits-$$
		mkdir "$group" 2>/dev/null || continue
		for file in memory.limit_in_bytes memory.max; do
			[ -f "$group/$file" ] && echo 524288000 >"$group/$file" 2>/dev/null && return 0
		done
		rmdir "$group"
	done
	why="no right to make a control group with a memory limit"
	return 1
}

group_limit() {
	case="control group of 500 MiB, margin $1"
	if ! make_group; then
		echo "skip $case: $why"
		return
	fi
	# shellcheck disable=SC2086
	ARMCI_SHM_MARGIN=$1 run sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" $launch "$dir/steps" 16 20
	refused "control group .*has [0-9]+ MiB left"
	kills=$(cat "$group/memory.oom_control" "$group/memory.events" 2>/dev/null | awk '$1 == "oom_kill" { print $2 }')
	[ "${kills:-0}" -eq 0 ] || fail "$kills processes were killed"
	tries=0
	while ! rmdir "$group" 2>/dev/null && [ $tries -lt 40 ]; do
		tries=$((tries + 1))
		sleep 0.05
	done
}

# The arena is smaller where the address space is limited; a refusal says so.
address_space() {
	case="address space of $1 KiB"
	# shellcheck disable=SC2086
	run sh -c 'ulimit -v "$0" && exec "$@"' "$1" $launch "$dir/steps" "$2" 20
	refused "$3"
}

# The arena cannot be had at all: one line, and no rank waits.
no_arena() {
	case="arena of 1 MiB"
	# shellcheck disable=SC2086
	ARMCI_SHM_ARENA=1m run $launch "$dir/steps" 1 2
	[ $status -ne 0 ] || fail "exit status 0"
	n=$(grep -c 'ARMCI_SHM_ARENA' "$dir/err")
	[ "$n" -eq 1 ] || fail "$n lines say what to set, not 1"
}

no_locked_memory() {
	case="no locked memory"
	# shellcheck disable=SC2086
	ARMCI_SHM_ARENA=1g run sh -c 'ulimit -l 0 && exec "$@"' sh $launch "$dir/steps" 100 20
	refused "each rank has [0-9]+ MiB of the arena"
}

group_limit 0
group_limit 64m
address_space 8388608 200 "each rank has [0-9]+ MiB of the arena"
address_space 2500000 60 "each rank has [0-9]+ MiB of the arena"
no_arena
no_locked_memory
echo "$failures failures"
[ $failures -eq 0 ]
