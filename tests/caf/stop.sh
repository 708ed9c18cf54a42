# SPDX-License-Identifier: BSD-3-Clause
# stop.sh FLAVOUR - what STOP, ERROR STOP, FAIL IMAGE and the end of the program do to a job: exit status, what is printed on
# standard error, that written output comes out, and how soon the job has ended.
#
#   BUILD=... RUN_none="... -n 2" WORK=... sh stop.sh none
set -u
flavour=${1:?the launcher}
eval "run=\$RUN_$flavour"
WORK=${WORK:-$BUILD/tests/caf/stop/$flavour}
mkdir -p "$WORK" && cd "$WORK" || exit 1
program=$BUILD/tests/caf/ends/$flavour/ends
failures=0
held='written and not flushed'

fail() {
	failures=$((failures + 1))
	echo "FAIL $flavour $way: $*"
	sed 's/^/    | /' out err
}

# ends WAY STATUS [PATTERN OF STANDARD ERROR]
ends() {
	way=$1
	began=$(cut -d' ' -f1 /proc/uptime)
	# shellcheck disable=SC2086 # words
	timeout -k 5 30 ${run% *} 3 "$program" $way >out 2>err </dev/null
	status=$?
	took=$(cut -d' ' -f1 /proc/uptime | awk -v a="$began" '{ printf "%.1f", $1 - a }')
	[ $status -eq "$2" ] || fail "exit status $status, expected $2"
	[ -z "${3-}" ] || grep -q -e "$3" err || fail "standard error does not say \"$3\""
	[ -n "${3-}" ] || ! grep -q -i -e 'stop' err || fail "standard error speaks of stopping"
	grep -q "$held" out || fail "what was written has not come out"
	echo "done $flavour $way: status $status after $took s"
}

# soon: it took less than what starting a job takes, and a second or so.
soon() {
	awk -v t="$took" -v most=$((usual + 3)) 'BEGIN { exit t > most }' || fail "took $took s"
}

ends end 0
usual=${took%.*}
ends stop_all 3 'STOP 3'
soon
ends stop_text 0 'STOP enough'
soon
ends stop_one 3 'STOP 3'
soon
ends stop_quiet 4
soon
ends error 7 'ERROR STOP 7'
soon
ends error_event 8 'ERROR STOP 8'
soon
ends error_text 1 'ERROR STOP it went wrong'
soon
ends error_quiet 9
soon
ends fail 0
soon
grep -q 'goes on without it' out || fail "the others did not go on"
echo "$failures failures"
[ $failures -eq 0 ]
