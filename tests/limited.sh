#!/bin/sh
# limited.sh SECONDS COMMAND [ARGUMENT]... - runs a command for so long at most.
#
# Afterwards it prints where each thread of the command and of its descendants stands: in the
# kernel, and by gdb, where there is one, in C and Go. Then it ends them, and its exit status is
# 124. So a hang that happens once in a thousand runs explains itself. SIGALRM, SIGTERM and SIGINT
# end it at once, without stacks. Needs Linux's /proc; the command reads no input.
# SPDX-License-Identifier: BSD-3-Clause
[ $# -ge 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
limit=$1
shift

descendants() { # PID: it, and those below it
	echo "$1"
	for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do descendants "$child"; done
}

stacks() { # PID
	echo "--- process $1: $(tr '\0' ' ' <"/proc/$1/cmdline" | cut -c 1-200)"
	for thread in "/proc/$1/task/"*; do
		state=$(sed 's/.*) \(.\).*/\1/' "$thread/stat")
		echo "thread ${thread##*/} $(cat "$thread/comm"): $state in $(cat "$thread/wchan")"
	done
	command -v gdb >/dev/null || return 0
	timeout -k 1 60 gdb -q -nx -p "$1" -batch -ex 'thread apply all bt 30' 2>&1 </dev/null |
		grep -E '^(Thread|#)' | cut -c 1-200
}

end() { # each has up to 2 s, since a launcher may have to end its ranks first
	all=$(descendants "$command")
	# shellcheck disable=SC2086 # a list of numbers
	kill $all 2>/dev/null
	for pid in $all; do
		tries=20
		while kill -0 "$pid" 2>/dev/null && [ $tries -gt 0 ]; do
			sleep 0.1
			tries=$((tries - 1))
		done
	done
	# shellcheck disable=SC2046,SC2086
	kill -s KILL $all $(descendants "$command") 2>/dev/null
}

too_long() {
	trap '' TERM
	echo "limited: $limit seconds have passed: stacks of all processes follow"
	for pid in $(descendants "$command"); do stacks "$pid" 2>/dev/null; done
	end
	exit 124
}

"$@" </dev/null &
command=$!
{
	sleep "$limit" &
	pause=$!
	trap 'kill $pause; exit 0' TERM
	wait $pause
	too_long
} &
watch=$!
trap 'kill $watch; end; exit 124' ALRM TERM INT
wait $command
status=$?
kill $watch 2>/dev/null
wait $watch 2>/dev/null
[ $? -ne 124 ] || status=124
exit $status
