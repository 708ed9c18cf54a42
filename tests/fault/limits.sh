# SPDX-License-Identifier: BSD-3-Clause
# limits.sh - memory that somebody limits: a control group, the address space, locked memory. A refusal is one line
# and a nonzero return on every rank, and the job goes on; nothing may be killed. It ends only what it started.
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
$CC_none -std=gnu11 -O2 -g -Wall -Wextra ${WERROR-} -I"$SOURCE/include" -o "$dir/steps" "$here/steps.c" -L"$LIBDIR" \
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

# refused PATTERN: on both ranks, of which the lowest says so, once.
refused() {
	[ $status -eq 0 ] || fail "exit status $status"
	n=$(grep -E -c "^\[0@[^]]*\] ARMCI_Malloc: .*$1" "$dir/err")
	[ "$n" -eq 1 ] || fail "$n lines of rank 0 match \"$1\", not 1"
	n=$(grep -E -c "^\[[0-9]+@[^]]*\] " "$dir/err")
	[ "$n" -eq 1 ] || fail "$n lines of the library, not 1"
}

# Makes a control group with a limit of $1 bytes and sets group; false and why if that is not possible.
make_group() {
	own=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
	for parent in "/sys/fs/cgroup/memory$own" /sys/fs/cgroup/memory "/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)" \
		/sys/fs/cgroup; do
		group=$parent/armci-limits-$$
		mkdir "$group" 2>/dev/null || continue
		for file in memory.limit_in_bytes memory.max; do
			[ -f "$group/$file" ] && echo "$1" >"$group/$file" 2>/dev/null && return 0
		done
		rmdir "$group"
	done
	why="no right to make a control group with a memory limit"
	return 1
}

group_limit() {
	case="control group of $1 bytes, $3 nodes, margin ${2:-by default}"
	if ! make_group "$1"; then
		echo "skip $case: $why"
		return
	fi
	[ -z "$2" ] || export ARMCI_SHM_MARGIN="$2"
	# shellcheck disable=SC2086
	run sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" $launch -nodes "$3" "$dir/steps" "$4" 60
	unset ARMCI_SHM_MARGIN
	refused "control group .*has [0-9.]+ [MK]iB left, of which .* stay free \(ARMCI_SHM_MARGIN\)"
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

# So little address space that there is no arena: the advice is one that helps.
no_address_space() {
	case="address space of 2000000 KiB"
	# shellcheck disable=SC2086
	run sh -c 'ulimit -v 2000000 && exec "$@"' sh $launch "$dir/steps" 1 2
	[ $status -ne 0 ] || fail "exit status 0"
	n=$(grep -c 'raise the limit of address space, which is 1.9 GiB' "$dir/err")
	[ "$n" -eq 1 ] || fail "$n lines say what to do, not 1"
}

no_locked_memory() {
	case="no locked memory"
	# shellcheck disable=SC2086
	ARMCI_SHM_ARENA=1g run sh -c 'ulimit -l 0 && exec "$@"' sh $launch "$dir/steps" 100 20
	refused "each rank has [0-9.]+ MiB of the arena.*set ARMCI_SHM_ARENA to more"
}

# Two nodes, which need descriptors for each other: a limit that is too low is named, whatever it is that needs the next.
few_descriptors() {
	for limit in 14 16 18; do
		case="$limit open files over two nodes"
		# shellcheck disable=SC2086
		run sh -c 'limit=$1; shift; exec "$@" -nodes 2 sh -c "ulimit -n $limit; exec \"\$0\" 1 2" "$0"' "$dir/steps" $limit $launch
		[ $status -eq 0 ] || grep -q 'too many open files' "$dir/err" || fail "no line says too many open files"
	done
}

# Without /proc nodes do not know that they are on one host, and there may be no network between hosts.
no_proc() {
	case="no /proc, no network"
	if ! unshare -m -n true 2>/dev/null; then
		echo "skip $case: no right to namespaces"
		return
	fi
	# shellcheck disable=SC2086
	run unshare -m -n sh -c 'program=$0; mount -t tmpfs none /proc && exec "$@" -nodes 2 "$program" 1 2' "$dir/steps" $launch
	[ $status -ne 0 ] || fail "exit status 0"
	n=$(grep -c '/proc/self/ns/net cannot be read' "$dir/err")
	[ "$n" -eq 1 ] || fail "$n lines say that /proc is missing, not 1"
}

few_descriptors
no_proc
group_limit 524288000 0 1 16
group_limit 524288000 64m 1 16
group_limit 268435456 "" 1 4
group_limit 524288000 0 2 90
address_space 8388608 200 "each rank has [0-9.]+ [MG]iB of the arena.*raise the limit of address space, which is 8 GiB"
address_space 2500000 60 "each rank has [0-9.]+ MiB of the arena.*raise the limit of address space, which is 2.3 GiB"
no_arena
no_address_space
no_locked_memory
echo "$failures failures"
[ $failures -eq 0 ]
