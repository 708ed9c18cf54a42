#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# reconnect.sh FLAVOUR - connections between hosts that are lost while all processes live: reset by
# the kernel of either side (ss -K) at random moments, and a link that is down for some seconds. The
# programs check their results: none may be wrong, hang or end otherwise. FLAVOUR none is armcirun.
#
#   BUILD=... SOURCE=... RUN_none="... -n 2" sh reconnect.sh none
#   RECONNECT_PARTS="reset link refused" chooses, RECONNECT_PROGRAMS="c/model ..." the programs,
#   RECONNECT_OUTAGES="link:1 switch:7" what is down, and for how many seconds
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
. "$here/launch.sh"
flavour=${1:?the flavour}
dir=${WORK:-$BUILD/tests/hosts/reconnect}/$flavour
mkdir -p "$dir" || exit 1
failures=0
eval "run=\$RUN_$flavour"
command -v ss >/dev/null 2>&1 || { echo "skip: no ss command (package iproute2)"; exit 77; }
programs="c/model c/strided c/mutex c/notify c/message c/collective_mix caf/random caf/locks"
[ "$flavour" = none ] || programs="c/model rma/model rma/pscw rma/lock rma/fetch_op"
programs=${RECONNECT_PROGRAMS:-$programs}
ports=20000-20400 # of the data servers: connections of launchers are left alone
limit=120

"$here/hosts.sh" down $prefix
trap '"$here/hosts.sh" down $prefix' EXIT
trap 'exit 1' HUP INT TERM
"$here/hosts.sh" up $prefix 3 || exit # three have a switch
launch_on hosts "$flavour" 2 2

fail() {
	failures=$((failures + 1))
	echo "FAIL $case: $*"
}

# reset HOST: resets the connections of data servers, as the kernel of one host knows them.
reset() {
	for end in sport dport; do
		ip netns exec "$1" ss -K -t state established \
			"$end >= :${ports%-*} and $end <= :${ports#*-}" >>"$dir/resets" 2>/dev/null
	done
}

# nap: some hundredths of a second, and now and then more.
nap() { sleep "0.$(od -An -N2 -tu2 /dev/urandom | awk '{ printf "%02d", $1 % 12 + 2 }')"; }

# job PROGRAM: starts it, without waiting.
job() {
	preload=
	case $1 in rma/*) preload=$BUILD/bin/armci-mpirma ;; esac
	log=$dir/$(echo "$1" | tr / .).log
	: >"$dir/resets"
	: >"$log"
	# shellcheck disable=SC2086 # words
	sh "$SOURCE/tests/limited.sh" $limit $launch env ARMCI_TCP_PORTS=$ports ${2-} $preload \
		"$BUILD/tests/${1%/*}/$flavour/${1#*/}" >"$log" 2>&1 &
	pid=$!
}

# verdict WHAT: waits for the job. Its results are right, and lines say that connections were lost.
verdict() {
	status=0
	wait $pid || status=$?
	again=$(grep -c 'made again' "$log")
	cuts=$(grep -c -E '[0-9]:[0-9]+ ' "$dir/resets")
	case=$1
	if [ $status -ne 0 ] && [ $status -ne 77 ]; then
		fail "exit $status after $cuts resets"
		tail -n 30 "$log" | sed 's/^/    | /'
	else
		echo "done $case: $cuts sockets reset, $again lines say so"
	fi
	total=$((total + again)) sockets=$((sockets + cuts))
}

part_reset() {
	total=0 sockets=0
	for one in $programs; do
		[ -x "$BUILD/tests/${one%/*}/$flavour/${one#*/}" ] ||
			{ echo "skip $one: not built"; continue; }
		job "$one"
		while kill -0 $pid 2>/dev/null; do
			nap
			reset "${prefix}$(od -An -N1 -tu1 /dev/urandom |
				awk '{ print $1 % 2 ? "a" : "b" }')"
		done
		verdict "$flavour $one"
	done
	if [ $sockets -eq 0 ] && [ $failures -eq 0 ]; then
		echo "skip: ss -K resets no socket here (CONFIG_INET_DIAG_DESTROY of the kernel)"
		exit 77
	fi
	[ $total -gt 0 ] || { case=$flavour; fail "no connection was made again"; }
}

# outage WHAT SECONDS COMMAND...: the command ("ip ... link set X") takes a link down and up again,
# in the middle of a program.
outage() {
	what=$1 seconds=$2
	shift 2
	job c/model ROUNDS_DIVISOR=1
	until grep -q MODEL_SEED "$log" || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
	sleep 0.5
	"$@" down
	sleep "$seconds"
	alive=yes
	kill -0 $pid 2>/dev/null || alive=no
	"$@" up
	verdict "$flavour c/model with $what that was down for $seconds s"
	[ $alive = yes ] || fail "the program had ended before"
}

# A host's link is down, which its kernel knows, and then the switch, which loses packets without a
# word.
part_link() {
	total=0 sockets=0
	for one in ${RECONNECT_OUTAGES:-link:1 switch:7}; do
		case $one in
		link:*) outage "a link" "${one#*:}" ip -n ${prefix}b link set eth0 ;;
		switch:*) outage "a switch" "${one#*:}" ip -n ${prefix}sw link set sw ;;
		esac
	done
}

# With ARMCI_RECONNECT=n the loss of a connection ends the job at once, with a line.
part_refused() {
	job c/idle ARMCI_RECONNECT=n
	sleep 2
	reset ${prefix}a
	status=0
	wait $pid || status=$?
	case="$flavour ARMCI_RECONNECT=n"
	if [ $status -eq 0 ] || ! grep -q 'connection lost' "$log"; then
		fail "exit $status: $(tail -n 3 "$log")"
	else
		echo "done $case: $(grep -m 1 'connection lost' "$log")"
	fi
}

for part in ${RECONNECT_PARTS:-reset link refused}; do
	"part_$part"
done
echo "$failures failures"
[ $failures -eq 0 ]
