#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# progress.sh NAME SCRIPT [ARGUMENT]... - runs a test's script; its output and exit status come out
# unchanged. ctest shows the output of a test at its end, if at all: so lines that say how far the
# script is (ok, done, FAIL, and the like) also go, one every five seconds at most, to the
# descriptor TEST_PROGRESS, which tests/tier.sh opens.
name=$1
shift
[ -n "${TEST_PROGRESS:-}" ] && [ -e "/proc/self/fd/$TEST_PROGRESS" ] || exec sh "$@"

shown=0
pass_on() {
	while IFS= read -r line || [ -n "$line" ]; do
		printf '%s\n' "$line"
		case $line in
		'ok '* | 'done '* | '=== RUN '* | FAIL* | 'passed '* | '--- PASS: '* | \
			'progress: '* | *': ok: '*) ;;
		*) continue ;;
		esac
		read -r now _ </proc/uptime
		[ "${now%.*}" -ge $((shown + 5)) ] || continue
		shown=${now%.*}
		printf '        %s: %.100s\n' "$name" "$line" >&"$TEST_PROGRESS"
	done
}

{
	status=$({ { sh "$@" 2>&1 3>&- 4>&-; echo $? >&3; } | pass_on >&4; } 3>&1)
} 4>&1
exit "$status"
