# SPDX-License-Identifier: BSD-3-Clause
# run.sh - the fault tests: kills, also of ranks that receive, signals, ranks that leave, ranks that
# wait for one that has finalised, calls that end the job, more memory than there is, a small
# /dev/shm; under every launcher that is there. It must end only what it started. Long because all
# parts share the programs, the launchers and what is said of a job.
#
#   BUILD=... SOURCE=... CC_none=... RUN_none="... -n 2" [CC_openmpi RUN_openmpi CC_mpich RUN_mpich]
#   WORK=... sh run.sh
#   FAULT_LAUNCHERS="none openmpi mpich"
#   FAULT_PARTS="kill signal leave exits receive sent vain careless foreign fatal memory shm stop"
#   FAULT_NODES=N: on so many pretended nodes
#   FAULT_WAYS="puts accumulates counter lock barrier late bcast receive event until malloc" (of
#   being busy when killed)  choose
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
WORK=${WORK:-$BUILD/tests/fault}
LIBDIR=${LIBDIR:-$BUILD/lib}
mkdir -p "$WORK" || exit 1
. "$here/job.sh"
. "$here/../beside.sh"

# build FLAVOUR: compiles the programs and sets launch; false if the flavour is not there.
build() {
	eval "cc=\$CC_$1 run=\$RUN_$1"
	[ -n "$cc" ] && [ -n "$run" ] || return 1
	case $1-${FAULT_NODES:-} in
	*-) launch="${run% *} $ranks" ;;
	none-*) launch="${run% *} $ranks -nodes $FAULT_NODES" ;;
	*) launch="${run% *} $ranks sh $here/../hosts/pretend.sh $FAULT_NODES $ranks" ;;
	esac
	dir=$WORK/$1
	mkdir -p "$dir"
	for source in "$here"/victim.c "$here"/fatal.c "$here"/memory.c \
		"$SOURCE"/tests/c/malloc.c; do
		$cc -std=gnu11 -O2 -g -Wall -Wextra ${WERROR-} -I"$SOURCE/include" \
			-o "$dir/$(basename "$source" .c)" "$source" \
			-L"$LIBDIR" -Wl,-rpath,"$LIBDIR" -larmci -lm || exit 1
	done
}

part_kill() {
	ways="puts accumulates counter lock barrier late bcast receive event until malloc"
	for way in ${FAULT_WAYS:-$ways}; do
		for victim in 0 2; do
			kill_rank $way $victim
		done
	done
}

# The launcher is told to end; everything ends.
signal_job() {
	case="$flavour SIG$1 to the launcher during $2"
	start "$dir/victim" "$dir/pids" "$2" 0
	started || { fail "did not start"; force; return; }
	sleep 0.3
	began=$(now)
	kill -"$1" $job
	finish 15
	clean
	if [ "$flavour$status" = mpich0 ]; then
		echo "note $case: mpiexec of MPICH answers with status 0 at times"
	elif [ $status -eq 0 ]; then
		fail "exit status 0"
	fi
	echo "done $case: status $status after $took s"
}

part_signal() {
	for way in puts barrier sleep; do
		signal_job INT $way
		signal_job TERM $way
	done
	[ "$flavour" = openmpi ] || signal_job KILL late
}

# A rank ends by itself.
leave() {
	way=$1 victim=$2 case="$flavour rank $2 leaves: $1"
	start "$dir/victim" "$dir/pids" "$way" "$victim"
	began=$(now)
	finish 20
	clean
	case $way in
	exit3) [ $status -ne 0 ] || fail "exit status 0" ;;
	exit0)
		[ $status -ne 0 ] || fail "exit status 0"
		names_dead "$victim" "$(cat "$dir/pids/$victim")"
		;;
	esac
	[ "$way$flavour" = exit3none ] && [ $status -ne 3 ] && fail "exit status $status, not 3"
	echo "done $case: status $status after $took s"
}

# A rank has finalised, or all but one, and others wait for it: the job ends with one line.
in_vain() {
	way=$1 victim=$2 case="$flavour wait for the finalised rank $2: $1"
	start "$dir/victim" "$dir/pids" "$way" "$victim"
	began=$(now)
	finish 15
	clean
	[ $status -ne 0 ] || fail "exit status 0"
	finalised='rank [0-3] has called ARMCI_Finalize while rank [0-3] waits for it'
	says "$finalised in $3: the job ends\$"
	case $way in
	last-any | last-event | last-until) ;;
	*) says "rank $2 has called" ;;
	esac
	lines=$(grep -c -E '^\[[0-9]+@' "$dir/err")
	[ "$lines" -eq 1 ] || fail "$lines lines of the library, not 1"
	echo "done $case: status $status after $took s"
}

part_vain() {
	for victim in 0 2; do
		in_vain last-barrier $victim 'a collective call'
		in_vain last-receive $victim armci_msg_rcv
		in_vain last-any $victim armci_msg_rcv
		in_vain last-lock $victim ARMCI_Lock
		in_vain last-event $victim ARMCIX_Event_wait
		in_vain last-until $victim ARMCIX_Wait_until
	done
}

part_leave() {
	for victim in 0 3; do
		leave exit0 $victim
		leave exit3 $victim
	done
	leave all-exit 0
}

# Ranks that only put, and look at no error, while another one is killed, ends, or ends the job: on
# one node and on several. One line says why, whichever rank notices it; no other rank is blamed.
part_careless() {
	plain=$launch exited='exited without ARMCI_Finalize while|has left|connection lost'
	for nodes in 1 2 4; do
		[ "$flavour" = none ] || [ $nodes = 1 ] || continue
		[ $nodes = 1 ] || launch="$plain -nodes $nodes"
		for victim in 0 3; do
			kill_rank careless $victim
			one_line "rank $victim "
			for way in exit0-careless error-careless; do
				case="$flavour $way of rank $victim on $nodes nodes"
				start "$dir/victim" "$dir/pids" $way $victim
				began=$(now)
				finish 15
				clean
				[ $status -ne 0 ] || fail "exit status 0"
				case $way in
				exit0*) one_line "rank $victim .*($exited)" ;;
				*) one_line "the victim gives up" ;;
				esac
				echo "done $case: status $status after $took s:" \
					"$(grep -E -m 1 '^\[[0-9]+@' "$dir/err")"
			done
		done
	done
	launch=$plain
}

# A thread ends the process by exit(0) while another one is in a call: that call is not blamed.
exit_in_thread() {
	victim_program=$dir/victim dir=$WORK/$1
	launch="$launch -nodes $(($1 % 2 * 2 + 2))"
	case="$flavour exit in a thread of rank 1, $1"
	start "$victim_program" "$dir/pids" exit0-thread 1
	began=$(now)
	finish 15
	[ $status -ne 0 ] || fail "exit status 0"
	one_line 'rank 1 .*(exited without ARMCI_Finalize while|has left|connection lost)'
	clean
	echo "done $case: status $status after $took s"
}

part_exits() {
	[ "$flavour" != none ] || beside exit_in_thread $(seq "${FAULT_EXITS:-4}")
}

# sent SIGNAL WAY STATUS: a signal that usually means a crash is sent to rank 2 while it is in Go.
# It dies of the signal, one line names the sender, and no stack is printed.
sent() {
	case="$flavour SIG$1 from outside during $2"
	start "$dir/victim" "$dir/pids" "$2" 0
	started || { fail "did not start"; force; return; }
	sleep 0.2
	began=$(now)
	kill -"$1" "$(cat "$dir/pids/2")"
	finish 15
	clean
	says "^\[2@[^]]*\] ended by SIG$1, which process [0-9]+ of user [0-9]+ has sent\$"
	lines=$(grep -c . "$dir/err")
	[ "$lines" -le 4 ] || fail "$lines lines"
	[ $status -eq "$3" ] || fail "exit status $status"
	echo "done $case: status $status after $took s"
}

part_sent() {
	[ "$flavour" = none ] || return 0
	plain=$launch
	launch="$plain -nodes 2"
	export ARMCI_FASTPATH=n
	for way in puts accumulates counter barrier; do
		sent SEGV $way 139
	done
	sent BUS puts 135
	sent FPE puts 136
	sent ABRT puts 134
	ARMCI_BACKTRACE=n sent SEGV puts 139
	unset ARMCI_FASTPATH
	launch=$plain
}

# A rank is killed while all others receive what comes to their processes in short waits: for
# notifications, messages, barriers and answers, in one thread and in several; on nodes with one
# rank each, with a server in each rank of a node, and with one server for two ranks. One line says
# why.
part_receive() {
	[ "$flavour" = none ] || return 0
	plain=$launch
	for shape in 4/0/notices/0 4/0/threads/2 2/0/barriers/2 2/0/threads/0 2/1/messages/0; do
		IFS=/ read -r nodes ARMCI_TCP_SERVERS way victim <<-EOF
		$shape
		EOF
		export ARMCI_TCP_SERVERS
		launch="$plain -nodes $nodes"
		kill_rank "$way" "$victim"
		one_line "rank $victim "
	done
	unset ARMCI_TCP_SERVERS
	launch=$plain
}

# A rank that dereferences a pointer of another node crashes; a line names the owner of the memory.
part_foreign() {
	[ "$flavour" = none ] || return 0
	plain=$launch
	foreign='address 0x[0-9a-f]+ is memory of ranks? [0-3] .*host node[0-3]\)'
	for nodes in 2 4; do
		launch="$plain -nodes $nodes"
		for victim in 0 3; do
			case="$flavour rank $victim dereferences memory of another of $nodes nodes"
			start "$dir/victim" "$dir/pids" dereference $victim
			began=$(now)
			finish 15
			clean
			[ $status -eq 139 ] || fail "exit status $status"
			says "^\[$victim@[^]]*\] $foreign: only its ranks can dereference it"
			echo "done $case: status $status after $took s"
		done
	done
	launch=$plain
}

# A call that cannot return its error ends the job with one line.
part_fatal() {
	"$dir/fatal" list >"$dir/cases"
	while read -r name function; do
		case="$flavour fatal $name"
		start "$dir/fatal" "$name"
		began=$(now)
		finish 15
		clean
		[ $status -ne 0 ] || fail "exit status 0"
		lines=$(grep -c -E '^\[[0-9]+@' "$dir/err")
		case $name in
		abort-code) ;;
		reduce-* | lock-none) says "$function" ;;
		*)
			says "$function"
			[ "$lines" -eq 1 ] || fail "$lines lines of the library, not 1"
			;;
		esac
		echo "done $case: status $status after $took s"
	done <"$dir/cases"
}

# The software verbs device (tests/softverbs) fails under ranks that only put, or have nonblocking
# transfers open: the setting of that device, and the one line.
part_device() {
	[ "$flavour" = none ] || return 0
	plain=$launch
	launch="$plain -nodes 2"
	mkdir -p "$SOFTVERBS_DIR"
	while read -r way setting value pattern; do
		case="$flavour $way $setting=$value"
		export "SOFTVERBS_$setting=$value"
		[ $setting != BREAK_AFTER ] || export ARMCI_RECONNECT=n # else the job goes on
		start "$dir/victim" "$dir/pids" $way 0
		unset "SOFTVERBS_$setting" ARMCI_RECONNECT
		began=$(now)
		finish 30
		clean
		[ $status -ne 0 ] || fail "exit status 0"
		one_line "$pattern"
		echo "done $case: status $status after $took s:" \
			"$(grep -E -m 1 '^\[[0-9]+@' "$dir/err")"
	done <<-EOF
	careless VANISH_AFTER 20000 rank.[0-3].*connection.lost:.device.softverbs0.of.this.host
	careless PORT_DOWN_AFTER 20000 rank.[0-3].*connection.lost:.transport.retry.counter.exceeded
	careless BREAK_AFTER 3000 rank.[0-3].*connection.lost:
	requests VANISH_AFTER 20000 rank.[0-3].*connection.lost:.device.softverbs0.of.this.host
	requests PORT_DOWN_AFTER 20000 rank.[0-3].*connection.lost:.transport.retry.counter.exceeded
	requests BREAK_AFTER 3000 rank.[0-3].*connection.lost:
	EOF
	launch=$plain
}

# A rank that is alone on its node dies where no other notices for seconds: RDMA retries first. The
# launcher says so, in the only line that there is, which names rank, node and reason.
part_alone() {
	[ "$flavour" = none ] || return 0
	plain=$launch
	launch="$plain -nodes $ranks"
	mkdir -p "$SOFTVERBS_DIR"
	for connections in 0 1; do
		export ARMCI_CONNECTIONS=$connections
		for victim in 0 3; do
			for way in careless requests _exit; do
				case="$flavour rank $victim alone on its node, $way"
				case="$case, $connections connections"
				start "$dir/victim" "$dir/pids" $way $victim
				started || { fail "did not start"; force; continue; }
				began=$(now)
				reason='ended with status 0, but without ARMCI_Finalize'
				if [ $way != _exit ]; then
					kill -9 "$(cat "$dir/pids/$victim")"
					reason='killed by signal 9 .*'
				fi
				finish 15
				clean
				[ $status -ne 0 ] || fail "exit status 0"
				awk -v t="$took" 'BEGIN { exit !(t > 2.9) }' && fail "took $took s"
				named="rank $victim \(pid [0-9]+ on node$victim\)"
				grep -q -E "^armcirun: $named $reason\$" "$dir/err" ||
					fail "no line names rank $victim, its node and the reason"
				[ "$(grep -c . "$dir/err")" -eq 1 ] ||
					fail "$(grep -c . "$dir/err") lines, not 1"
				echo "done $case: status $status after $took s"
			done
		done
	done
	unset ARMCI_CONNECTIONS
	launch=$plain
}

# A rank that serves its node is stopped for longer than the timeout, while others fill all buffers
# on the way to it: its kernel answers, so the job goes on.
part_stop() {
	[ "$flavour" = none ] || return 0
	plain=$launch
	export ARMCI_TIMEOUT=2s
	for shape in 2-flood 4-late-flood; do
		launch="$plain -nodes ${shape%%-*}"
		case="$flavour rank 2 is stopped for 6 s on ${shape%%-*} nodes during ${shape#*-}"
		start "$dir/victim" "$dir/pids" ${shape#*-} 2
		started || { fail "did not start"; force; continue; }
		pid=$(cat "$dir/pids/2")
		kill -STOP "$pid"
		sleep 6
		kill -CONT "$pid"
		sleep 1
		[ "$(alive | wc -l)" -eq $ranks ] || fail "only ranks $(echo $(alive)) live on"
		began=$(now)
		kill -TERM $job
		finish 15
		clean
		echo "done $case: $(grep -c . "$dir/err") lines"
	done
	unset ARMCI_TIMEOUT
	launch=$plain
}

part_memory() {
	case="$flavour more memory than there is"
	all=$(awk '/MemTotal/ { printf "%.0f", $2 * 1024 }' /proc/meminfo)
	ARMCI_ERRORS=return
	export ARMCI_ERRORS
	start "$dir/memory" "$all"
	began=$(now)
	finish 60
	unset ARMCI_ERRORS
	clean
	[ $status -eq 0 ] || fail "exit status $status"
	says ARMCI_Malloc
	echo "done $case: status $status after $took s"
}

# 48 MiB per rank with 64 MiB in /dev/shm.
part_shm() {
	case="$flavour with 64 MiB of /dev/shm"
	if ! unshare -m true 2>/dev/null; then
		echo "skip $case: no right to a mount namespace"
		return
	fi
	plain=$launch small='mount -t tmpfs -o size=64m tmpfs /dev/shm'
	launch="unshare -m sh -c '$small && exec \"\$@\"' sh $launch"
	began=$(now)
	rm -rf "$dir/pids"
	mkdir -p "$dir/pids"
	names >"$dir/before"
	echo none >>"$dir/before"
	echo none >"$dir/sockets"
	eval "$launch \"$dir/malloc\"" >"$dir/out" 2>"$dir/err"
	status=$?
	launch=$plain
	clean
	[ $status -eq 0 ] || fail "exit status $status"
	echo "done $case: status $status after $(since "$began") s"
}

parts="kill signal leave exits receive sent vain careless foreign fatal memory shm"
for flavour in ${FAULT_LAUNCHERS:-none openmpi mpich}; do
	if ! build "$flavour"; then
		echo "skip $flavour: no compiler or launcher"
		continue
	fi
	for part in ${FAULT_PARTS:-$parts}; do
		"part_$part"
	done
done
echo "$failures failures"
[ $failures -eq 0 ]
