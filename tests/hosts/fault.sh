#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fault.sh FLAVOUR - what can go wrong between hosts: a killed rank, a host of which everything is
# killed at once, a link that goes down without a word, a process that is stopped for a while; in
# the virtual machine also a verbs device that vanishes. All ranks on both sides end in time, a line
# names a rank or a host, nothing is left; a process that was only stopped goes on. FLAVOUR none is
# armcirun.
#
#   BUILD=... SOURCE=... CC_none=... RUN_none="... -n 2" sh fault.sh none
#   HOSTS_PARTS="kill=puts,lock exit node link=barrier stop stoplink device" chooses, also in what
#   ways the ranks are busy
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
. "$here/launch.sh"
. "$here/../fault/job.sh"
flavour=${1:?the flavour}
dir=${WORK:-$BUILD/tests/hosts/fault}/$flavour
timeout=10 # of the transport and of armcirun: how long a host may be silent
mkdir -p "$dir" || exit 1

eval "cc=\$CC_$flavour run=\$RUN_$flavour"
[ -n "$cc" ] && [ -n "$run" ] || { echo "skip: no compiler or launcher of $flavour"; exit 77; }
$cc -std=gnu11 -O2 -g -Wall -Wextra ${WERROR-} -I"$SOURCE/include" -o "$dir/victim" \
	"$here/../fault/victim.c" -L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -larmci -lm || exit 1

"$here/hosts.sh" down $prefix
trap '"$here/hosts.sh" down $prefix' EXIT
trap 'exit 1' HUP INT TERM
"$here/hosts.sh" up $prefix 2 || exit
launch_on hosts "$flavour" 2 2

# begin WAY VICTIM: a job of ranks 0 and 1 on host a, 2 and 3 on host b; false if it does not start,
# or not stay. In the virtual machine puts leave a little time for others, which would come to a
# standstill.
begin() {
	way_of=$1
	[ "$1-${HOSTS_RXE:-0}" != puts-1 ] || way_of=trickle
	start "$dir/victim" "$dir/pids" $way_of "$2"
	if ! started; then
		fail "did not start"
	elif sleep 0.3 && [ "$(alive | wc -l)" -ne $ranks ]; then
		fail "ranks have ended before anything was done to them"
	else
		began=$(now)
		return 0
	fi
	force
	wait $job 2>/dev/null
	return 1
}

# over LIMIT PATTERN: the job ends in time and not as if nothing had happened; a line matches. (A
# line of the library begins with the [rank@host] that writes it: that names no victim.)
over() {
	patience=$1
	finish "$1"
	clean
	[ $status -ne 0 ] || fail "exit status 0"
	grep -E -q "$2" "$dir/err" "$dir/out" || fail "no line says \"$2\""
	echo "done $case: status $status after $took s:" \
		"$(cat "$dir/err" "$dir/out" | grep -E -m 1 "$2")"
}

# ways WAY...: those of them that are chosen.
ways() {
	for one; do
		case ,${chosen:-$one}, in *,$one,*) echo "$one" ;; esac
	done
}

part_kill() {
	for way in $(ways puts requests lock barrier receive); do
		for victim in 0 3; do
			case="$flavour kill rank $victim during $way"
			begin $way $victim || continue
			kill -9 "$(cat "$dir/pids/$victim")"
			over 10 "rank $victim |PID $(cat "$dir/pids/$victim") |BAD TERMINATION"
		done
	done
}

part_node() {
	for way in $(ways puts barrier); do
		case="$flavour kill host ${prefix}b during $way"
		begin $way 0 || continue
		# shellcheck disable=SC2046 # several numbers
		kill -9 $("$here/hosts.sh" pids ${prefix}b)
		# Hydra trips over it itself and kills the others at once.
		over 10 "rank [23] |[^@]${prefix}b|BAD TERMINATION|mpiexec@.*(control_cb|assert)"
	done
}

part_link() {
	may_hang="openmpi mpich" # they wait for the host that is out of reach
	for way in $(ways puts barrier); do
		case="$flavour link down during $way"
		begin $way 0 || continue
		"$here/hosts.sh" cut ${prefix}b
		over $((timeout + 10)) "rank [0-3] |[^@]${prefix}[ab]"
		force
		"$here/hosts.sh" down $prefix
		"$here/hosts.sh" up $prefix 2
	done
}

# A rank ends itself by _exit. A launcher may end its host only, or at once: one line all the same.
part_exit() {
	for victim in 0 3 0 3; do
		case="$flavour rank $victim of two hosts ends by _exit"
		start "$dir/victim" "$dir/pids" _exit $victim
		started || { fail "did not start"; force; continue; }
		began=$(now)
		over 10 "rank $victim "
		lines=$(grep -c -E '^\[[0-9]+@' "$dir/err")
		[ "$lines" -eq 1 ] || fail "$lines lines of the library, not 1"
	done
}

# Rank 2 is the one that serves its host.
part_stop() {
	for victim in 2 3; do
		case="$flavour rank $victim is stopped for 5 s"
		begin puts 0 || continue
		pid=$(cat "$dir/pids/$victim")
		kill -STOP "$pid"
		sleep 5
		kill -CONT "$pid"
		sleep 3
		[ "$(alive | wc -l)" -eq $ranks ] || fail "only ranks $(echo $(alive)) live on"
		began=$(now)
		kill -TERM $job
		patience=10
		finish 15
		clean
		echo "done $case"
	done
}

# A host that goes away while a process of it is stopped, and its full window is probed: that must
# be noticed as well.
part_stoplink() {
	may_hang="openmpi mpich"
	case="$flavour link down while rank 2 is stopped"
	begin flood 2 || return 0
	kill -STOP "$(cat "$dir/pids/2")"
	sleep $((timeout + 4))
	[ "$(alive | wc -l)" -eq $ranks ] || fail "only ranks $(echo $(alive)) live on"
	began=$(now)
	"$here/hosts.sh" cut ${prefix}b
	kill -CONT "$(cat "$dir/pids/2")"
	over $((timeout + 15)) "rank [0-3] |[^@]${prefix}[ab]"
	force
	"$here/hosts.sh" down $prefix
	"$here/hosts.sh" up $prefix 2
}

# With its interface a device of Soft-RoCE goes down, and away when no process has it open any more:
# its port is dead, its requests fail. (rdma link delete would wait for the job's end.)
part_device() {
	[ "${HOSTS_RXE:-0}" != 0 ] || return 0
	for way in $(ways puts barrier); do
		case="$flavour the device of ${prefix}b vanishes during $way"
		begin $way 0 || continue
		ip link del rxe_${prefix}b
		over $((timeout + 10)) "rank [0-3] |[^@]${prefix}[ab]"
		force
		"$here/hosts.sh" down $prefix
		"$here/hosts.sh" up $prefix 2
	done
}

for part in ${HOSTS_PARTS:-kill node link stop stoplink device}; do
	chosen=${part#"${part%%=*}"}
	chosen=${chosen#=}
	"part_${part%%=*}"
done
echo "$failures failures"
[ $failures -eq 0 ]
