# SPDX-License-Identifier: BSD-3-Clause
# job.sh - what the fault scripts share: starting a job in the background, killing a rank of it,
# waiting for its end, looking for what it leaves. Sourced, never run; it must end only processes
# with numbers that the job itself wrote down.

failures=0
ranks=4
patience=10
may_hang=openmpi # launchers that are known to, once the ranks have ended

fail() {
	failures=$((failures + 1))
	echo "FAIL $case: $*"
	cat "$dir/out" "$dir/err" | sed 's/^/    | /' | head -20
}

# Files and SysV objects that exist now and could be left behind, one per line; but for the
# directory of a device in software (tests/softverbs/with.sh), which another test may have made.
names() {
	ls -1 /dev/shm 2>/dev/null | sed '/^softverbs\./d; s/^/shm /'
	# The segments that no process has attached.
	awk 'NR > 1 && $7 == 0 { print "sysv shm", $2 }' /proc/sysvipc/shm 2>/dev/null
	for kind in sem msg; do
		awk -v kind=$kind 'NR > 1 { print "sysv", kind, $2 }' /proc/sysvipc/$kind \
			2>/dev/null
	done
}

# Named sockets that the ranks hold now. Others on the machine may have some of their own.
sockets() {
	for f in "$dir"/pids/*; do
		[ -f "$f" ] && ls -l "/proc/$(cat "$f")/fd" 2>/dev/null |
			sed -n 's/.*socket:\[\([0-9]*\)\]$/\1/p'
	done | sort -u >"$dir/inodes"
	awk 'NR == FNR { mine[$1]; next } NF >= 8 && $7 in mine { print $8 }' "$dir/inodes" \
		/proc/net/unix | sort -u
}

# What the job left: its sockets that are still there, and new names that no living process has
# mapped.
left_behind() {
	awk 'NF >= 8 { print $8 }' /proc/net/unix | grep -x -F -f "$dir/sockets" |
		sed 's/^/socket /'
	reporters | sed 's/^/process /'
	names | grep -v -x -F -f "$dir/before" | while read -r kind name rest; do
		[ "$kind" = shm ] && grep -q -s -F "/dev/shm/$name" /proc/[0-9]*/maps && continue
		echo "$kind $name $rest"
	done
}

# The reporters of this job that live: their arguments are lines with the numbers of the ranks.
reporters() {
	for f in /proc/[0-9]*/comm; do
		grep -q -s -x armci-reporter "$f" || continue
		for p in "$dir"/pids/*; do
			[ -f "$p" ] && grep -q -s -F "(pid $(cat "$p"))" "${f%comm}cmdline" &&
				basename "${f%/comm}" && break
		done
	done
}

# running PID: true while it lives (a zombie does not).
running() {
	state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null) && [ -n "$state" ] &&
		[ "$state" != Z ]
}

now() {
	cut -d' ' -f1 /proc/uptime
}

since() {
	awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'
}

# start COMMAND...: under $launch, in a fresh directory $dir/pids. A shell starts its background
# jobs deaf to SIGINT.
start() {
	rm -rf "$dir/pids"
	mkdir -p "$dir/pids"
	names >"$dir/before"
	echo none >>"$dir/before"
	echo none >"$dir/sockets"
	# shellcheck disable=SC2086
	env --default-signal=INT,QUIT $launch "$@" >"$dir/out" 2>"$dir/err" &
	job=$!
}

# Waits until all ranks wrote their numbers; false after 20 s.
started() {
	tries=0
	while [ "$(ls "$dir/pids" | wc -l)" -lt $ranks ]; do
		tries=$((tries + 1))
		[ $tries -gt 400 ] && return 1
		running $job || return 1
		sleep 0.05
	done
	sockets >>"$dir/sockets"
}

# alive: the ranks that still live.
alive() {
	for f in "$dir"/pids/*; do
		[ -f "$f" ] && running "$(cat "$f")" && basename "$f"
	done
}

# Sets status and took (seconds since $began); ends the job by force after $1 seconds. mpirun of
# Open MPI 4.1 hangs or crashes now and then, with any program, when ranks fail while another one is
# in MPI_Finalize: the ranks are judged.
finish() {
	limit=$1
	while running $job; do
		if [ "$(since "$began" | cut -d. -f1)" -ge "$limit" ]; then
			if echo " $may_hang " | grep -q " $flavour " && [ -z "$(alive)" ]; then
				echo "note $case: all ranks have ended, the launcher itself hangs"
			else
				fail "still running after $limit s"
			fi
			force
			break
		fi
		sleep 0.05
	done
	wait $job 2>/dev/null
	status=$?
	took=$(since "$began")
}

force() {
	for f in "$dir"/pids/*; do
		[ -f "$f" ] && kill -9 "$(cat "$f")" 2>/dev/null
	done
	kill -9 $job 2>/dev/null
}

# No rank lives within $patience seconds, and no name is there that was not there before (2 s for
# the system to tidy up).
clean() {
	while :; do
		left=$(alive)
		[ -z "$left" ] && break
		if [ "$(since "$began" | cut -d. -f1)" -ge $patience ]; then
			fail "ranks still alive after $patience s: $(echo $left)"
			force
			break
		fi
		sleep 0.05
	done
	tries=0
	while new=$(left_behind) && [ -n "$new" ]; do
		tries=$((tries + 1))
		if [ $tries -gt 40 ]; then
			fail "left behind: $new"
			break
		fi
		sleep 0.05
	done
}

# names_dead RANK PID: a line names the dead rank. Open MPI's launcher sees the death too and ends
# the others, sometimes before the library comes to write; then its own report counts. MPICH's kills
# them at once, and its report need not name the right process: there the library's reporter must
# tell, once.
names_dead() {
	if grep -q -E "^\[[0-9]+@[^]]*\].*rank $1 " "$dir/err"; then
		teller=library
		lines=$(grep -c -E '^\[[0-9]+@' "$dir/err")
		[ "$lines" -eq 1 ] || fail "$lines lines of the library, not 1"
	elif [ "$flavour" = openmpi ] && grep -q -E "rank $1 |PID $2 " "$dir/err" "$dir/out"; then
		teller=launcher
	else
		teller=nobody
		fail "no line names rank $1 (process $2)"
	fi
}

# says PATTERN: a line of the library matches.
says() {
	grep -E '^\[[0-9]+@[^]]*\]' "$dir/err" | grep -E -q "$1" ||
		fail "no line of the library says \"$1\""
}

# one_line PATTERN: the library says one line, and that matches.
one_line() {
	says "$1"
	lines=$(grep -E '^\[[0-9]+@' "$dir/err" | grep -c -v 'its port has lost the link')
	[ "$lines" -eq 1 ] || fail "$lines lines of the library, not 1"
}

# kill_rank WAY RANK: a rank of the program victim is killed; all others end in time, the launcher
# reports failure, a line names the dead rank.
kill_rank() {
	way=$1 victim=$2 case="$flavour kill rank $2 of $ranks during $1"
	start "$dir/victim" "$dir/pids" "$way" "$victim"
	started || { fail "did not start"; force; return; }
	sleep 0.3
	began=$(now)
	kill -9 "$(cat "$dir/pids/$victim")"
	finish 15
	clean
	[ $status -ne 0 ] || fail "exit status 0"
	awk -v t="$took" 'BEGIN { exit !(t > 10) }' && fail "took $took s"
	names_dead "$victim" "$(cat "$dir/pids/$victim")"
	echo "done $case: status $status after $took s, said by the $teller"
}

# kill_victim PROGRAM WAY NUMBER RANK: starts the program with the way and the number that it is to
# end by, kills the process of a rank, and waits for the end of the job. It returns 1 if the job
# did not start.
kill_victim() {
	start "$1" "$dir/pids" "$2" "$3"
	began=$(now)
	started || { fail "did not start"; force; return 1; }
	sleep 0.3
	victim=$(cat "$dir/pids/$4")
	running "$victim" || fail "ended before it was killed"
	began=$(now)
	kill -9 "$victim" 2>/dev/null
	finish 15
	clean
	[ $status -ne 0 ] || fail "exit status 0"
	! grep -q 'went on' "$dir/out" || fail "a survivor went on"
}
