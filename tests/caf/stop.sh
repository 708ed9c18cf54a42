# SPDX-License-Identifier: BSD-3-Clause
# stop.sh FLAVOUR - what STOP, ERROR STOP, FAIL IMAGE and the end of the program do to a job: exit
# status, what is printed on standard error, that written output comes out, and how soon the job has
# ended; on one node and on two.
#
#   BUILD=... SOURCE=... RUN_none="... -n 2" WORK=... sh stop.sh none
#   STOP_NODES="1 2"  chooses
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
	sed 's/^/    | /' out err | head -12
}

# start WAY: on $nodes nodes; sets status and took.
start() {
	way=$1
	launch="${run% *} 4 $SOURCE/tests/hosts/pretend.sh $nodes 4"
	[ "$flavour" != none ] || launch="${run% *} 4 -nodes $nodes"
	began=$(cut -d' ' -f1 /proc/uptime)
	# shellcheck disable=SC2086 # words
	timeout -k 5 30 $launch "$program" "$way" >out 2>err </dev/null
	status=$?
	took=$(cut -d' ' -f1 /proc/uptime | awk -v a="$began" '{ printf "%.1f", $1 - a }')
}

# ends WAY STATUS [PATTERN OF STANDARD ERROR]: no later than a second or so, on a busy machine a
# few, after what starting a job takes. If one rank alone has another status than 0 mpirun waits for
# two seconds, and the MPIs' launchers take their time on busy cores.
ends() {
	start "$1"
	[ $status -eq "$2" ] || fail "exit status $status, expected $2"
	[ -z "${3-}" ] || grep -q -e "$3" err || fail "standard error does not say \"$3\""
	[ -n "${3-}" ] || ! grep -q -i -e 'stop' err || fail "standard error speaks of stopping"
	grep -q "$held" out || fail "what was written has not come out"
	more=8
	[ "$flavour" != none ] || more=3
	awk -v t="$took" -v most="$usual" -v more=$more 'BEGIN { exit t > most + more }' ||
		fail "took $took s"
	echo "done $flavour $way on $nodes nodes: status $status after $took s"
}

for nodes in ${STOP_NODES:-1 2}; do
	usual=30
	ends end 0
	usual=$took
	ends stop 0
	ends stop_all 3 'STOP 3'
	ends stop_text 0 'STOP enough'
	ends stop_one 3 'STOP 3'
	ends stop_quiet 4
	ends stop_no_stat 1 'libcaf_armci: image [1-3]: SYNC ALL: an image of the team has stopped'
	ends error_none 1 'ERROR STOP'
	ends error_late 6 'ERROR STOP 6'
	ends error 7 'ERROR STOP 7'
	ends error_event 8 'ERROR STOP 8'
	ends error_text 1 'ERROR STOP it went wrong'
	ends error_quiet 9
	ends fail 0
	grep -q 'goes on without it' out || fail "the others did not go on"
done
echo "$failures failures"
[ $failures -eq 0 ]
