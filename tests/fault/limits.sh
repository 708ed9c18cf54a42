# SPDX-License-Identifier: BSD-3-Clause
# limits.sh - limits of a process: memory by a control group, address space, file size, locked
# memory, open files, threads; system calls that are refused; no network. A refusal is one line that
# names the limit and the value needed, and a nonzero return on every rank; nothing may be killed,
# and no text of Go appears. It ends only what it started.
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
for source in "$here/steps.c" "$SOURCE/tests/c/malloc.c"; do
	$CC_none -std=gnu11 -O2 -g -Wall -Wextra ${WERROR-} -I"$SOURCE/include" \
		-o "$dir/$(basename "$source" .c)" "$source" \
		-L"$LIBDIR" -Wl,-rpath,"$LIBDIR" -larmci || exit 1
done
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

# Makes a control group with a limit of $1 bytes and sets group; false and why if that is not
# possible.
make_group() {
	own=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
	for parent in "/sys/fs/cgroup/memory$own" /sys/fs/cgroup/memory \
		"/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)" /sys/fs/cgroup; do
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
	run sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" $launch \
		-nodes "$3" "$dir/steps" "$4" 60
	unset ARMCI_SHM_MARGIN
	text='control group .*has [0-9.]+ [MK]iB left'
	refused "$text, of which .* stay free \(ARMCI_SHM_MARGIN\)"
	kills=$(cat "$group/memory.oom_control" "$group/memory.events" 2>/dev/null |
		awk '$1 == "oom_kill" { print $2 }')
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

# one_line PATTERN: the job has failed, a line matches and none is of Go.
one_line() {
	[ $status -ne 0 ] || fail "exit status 0"
	n=$(grep -E -c "$1" "$dir/err")
	[ "$n" -ge 1 ] && [ "$n" -le "${2:-1}" ] || fail "$n lines match \"$1\""
	! grep -E -q '^(runtime|goroutine|fatal error)' "$dir/err" || fail "text of Go"
}

# A limit that the shell sets, with so many ranks: limited RANKS "OPTION VALUE" COMMAND...
limited() {
	on=$1 limit=$2
	shift 2
	case="ulimit $limit, $on ranks"
	# shellcheck disable=SC2086
	run bash -c "(ulimit $limit && exec \"\$@\") 2>&1 | cat >&2; exit \${PIPESTATUS[0]}" \
		sh ${RUN_none% *} $on "$@"
}

# So little address space that there is no arena, or that Go cannot start: the advice is one that
# helps.
no_address_space() {
	limited 2 "-v 1750000" "$dir/steps" 1 2
	one_line 'raise the limit of address space, which is 1.6 GiB, to .* \(ulimit -v [0-9]+\)'
	limited 4 "-v 1400000" "$dir/steps" 1 2
	text='the limit of address space, which is 1367 MiB, is too low'
	one_line "$text .* raise it to [0-9]+ MiB" 4
}

# What a refusal says where a limit has made the arena smaller.
smaller='each rank has [0-9.]+ MiB of the arena.*raise the limit of'

# Much less than before is enough for a program that allocates little.
little_address_space() {
	for shape in 4:2500000 16:3200000; do
		limited ${shape%:*} "-v ${shape#*:}" "$dir/steps" 4 400
		refused "$smaller address space, which is .* to .*ulimit -v [0-9]+"
	done
}

file_size() {
	limited 2 "-f 0" "$dir/steps" 1 2
	one_line 'raise the limit of file size, which is 0 B \(ulimit -f\), to [0-9]+ MiB'
	limited 2 "-f 262144" "$dir/steps" 50 20
	refused "$smaller file size, which is 256 MiB \(ulimit -f\), to "
}

few_threads() {
	case="ulimit -u"
	if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null ||
		! setpriv --reuid 54321 --clear-groups test -x "$dir/steps"; then
		echo "skip $case: not root, no setpriv, or another user cannot run programs of $dir"
		return
	fi
	for limit in 10 26; do
		case="ulimit -u $limit"
		# shellcheck disable=SC2086
		run setpriv --reuid 54321 --regid 54321 --clear-groups \
			bash -c "cd / && ulimit -u $limit && exec \"\$@\"" \
			sh ${RUN_none% *} 4 "$dir/steps" 1 2
		one_line 'raise it to [0-9]+ \(ulimit -u\)'
	done
	case="ulimit -u 3 of the ranks"
	# shellcheck disable=SC2086
	run setpriv --reuid 54321 --regid 54321 --clear-groups ${RUN_none% *} 2 \
		sh -c 'cd / && ulimit -p 3 2>/dev/null || ulimit -u 3; exec "$0" 1 2' "$dir/steps"
	text='a thread of the library cannot be created.* is 3'
	one_line "$text: raise it by 16 for each rank.*ulimit -u" 2
}

# Memory files are refused (EPERM, ENOSYS): files without a name take their place, and nothing is
# left of a killed job.
no_memory_files() {
	$CC_none -Wall -Wextra ${WERROR-} -o "$dir/refuse" "$here/refuse.c" || exit 1
	for error in 1 38; do
		case="memfd_create returns error $error"
		# shellcheck disable=SC2086
		run env -u ARMCI_ERRORS "$dir/refuse" memfd_create $error $launch "$dir/malloc"
		[ $status -ne 77 ] || { echo "skip $case: no filters of system calls"; return; }
		[ $status -eq 0 ] || fail "exit status $status"
	done
	[ -z "$(ls /dev/shm /tmp | grep '^armci-[A-Z2-7]*$')" ] || fail "files are left"
}

# Without a loopback interface pretended nodes cannot talk; with IPv6 alone they can.
no_loopback() {
	case="no loopback interface"
	if ! unshare -n true 2>/dev/null; then
		echo "skip $case: no right to namespaces"
		return
	fi
	# shellcheck disable=SC2086
	run unshare -n $launch -nodes 2 "$dir/steps" 1 2
	one_line "loopback interface is down.*ip link set lo up"
	case="IPv6 alone"
	# shellcheck disable=SC2086
	run unshare -n sh -c 'ip link set lo up && ip addr del 127.0.0.1/8 dev lo && exec "$@"' \
		sh $launch -nodes 2 env -u ARMCI_ERRORS "$dir/malloc"
	[ $status -eq 0 ] || fail "exit status $status"
}

no_locked_memory() {
	case="no locked memory"
	# shellcheck disable=SC2086
	ARMCI_SHM_ARENA=1g run sh -c 'ulimit -l 0 && exec "$@"' sh $launch "$dir/steps" 100 20
	refused "each rank has [0-9.]+ MiB of the arena.*set ARMCI_SHM_ARENA to more"
}

# Two nodes, which need descriptors for each other: a limit that is too low is named, whatever it is
# that needs the next.
few_descriptors() {
	for limit in 14 16 18; do
		case="$limit open files over two nodes"
		# shellcheck disable=SC2086
		run sh -c 'limit=$1
			shift
			exec "$@" -nodes 2 sh -c "ulimit -n $limit; exec \"\$0\" 1 2" "$0"' \
			"$dir/steps" $limit $launch
		[ $status -eq 0 ] || grep -q 'too many open files' "$dir/err" ||
			fail "no line says too many open files"
	done
}

# Without /proc nodes do not know that they are on one host, and there may be no network between
# hosts.
no_proc() {
	case="no /proc, no network"
	if ! unshare -m -n true 2>/dev/null; then
		echo "skip $case: no right to namespaces"
		return
	fi
	# shellcheck disable=SC2086
	run unshare -m -n sh -c 'program=$0
		mount -t tmpfs none /proc && exec "$@" -nodes 2 "$program" 1 2' \
		"$dir/steps" $launch
	[ $status -ne 0 ] || fail "exit status 0"
	n=$(grep -c '/proc/self/ns/net cannot be read' "$dir/err")
	[ "$n" -eq 1 ] || fail "$n lines say that /proc is missing, not 1"
}

few_descriptors
limited 16 "-n 20" "$dir/steps" 1 2
text='16 ranks need more open files than the limit allows, which is 20'
one_line "$text: raise it to [0-9]+ \(ulimit -n\)"
no_proc
no_loopback
no_memory_files
few_threads
group_limit 524288000 0 1 16
group_limit 524288000 64m 1 16
group_limit 268435456 "" 1 4
group_limit 524288000 0 2 90
text='each rank has [0-9.]+ [MG]iB of the arena.*raise the limit of address space'
address_space 8388608 200 "$text, which is 8 GiB"
address_space 2500000 60 "$smaller address space, which is 2.3 GiB"
no_arena
no_address_space
little_address_space
file_size
no_locked_memory
echo "$failures failures"
[ $failures -eq 0 ]
