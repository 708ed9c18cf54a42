# SPDX-License-Identifier: BSD-3-Clause
# strangers.sh - jobs while a process of another user connects to every socket that listens
# (stranger.c): none may be harmed. It runs in a network namespace of its own, which takes root, so
# that no other job is visited. For each line of cases it prints how many jobs went well, how long
# they took beside one without a stranger, and what the stranger did.
#
#   BUILD=... SOURCE=... CC_none=... RUN_none="... -n 2" [RUN_mpich RUN_openmpi] WORK=... \
#     sh strangers.sh
#   STRANGERS_JOBS=N     jobs for each case (2)
#   STRANGERS_CASES="PAUSE,BYTES,ADDRESSES,HOLD,MILLISECONDS ..."
#   STRANGERS_HOW="nodes few hosts mpich openmpi"    ("nodes few hosts")
#   STRANGERS_WITH="COMMAND ..."  runs armcirun, such as tests/ofi/over.sh tcp
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
WORK=${WORK:-$BUILD/tests/strangers}
LIBDIR=${LIBDIR:-$BUILD/lib}
if [ -z "${STRANGERS_INSIDE:-}" ]; then
	[ -n "$CC_none" ] && [ -n "$RUN_none" ] || {
		echo "skip: no compiler or launcher"
		exit 77
	}
	unshare -n true 2>/dev/null || {
		echo "skip: no right to a network namespace (root)"
		exit 77
	}
	command -v ip >/dev/null || { echo "skip: no ip (package iproute2)"; exit 77; }
	STRANGERS_INSIDE=y exec unshare -n sh "$0"
fi
ip link set lo up || exit 1
mkdir -p "$WORK" || exit 1
for program in stranger visited; do
	$CC_none -std=gnu11 -O2 -g -Wall -Wextra ${WERROR-} -I"$SOURCE/include" \
		-o "$WORK/$program" "$here/$program.c" \
		-L"$LIBDIR" -Wl,-rpath,"$LIBDIR" -larmci || exit 1
done
printf '#!/bin/sh\nARMCI_NODE=$1\nexport ARMCI_NODE\nshift\nexec sh -c "$*"\n' >"$WORK/agent"
chmod +x "$WORK/agent"
armcirun=${RUN_none% -n *}
jobs=${STRANGERS_JOBS:-2}
late=8000 # ms that a job may take longer than without a stranger: the machine may be busy
nobody=65534
low=7000 high=7099 # ports of jobs that an MPI's launcher starts
failures=0

milliseconds() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }

# job HOW MILLISECONDS: sets took; false if it fails. HOW: nodes are pretended; few: and their
# processes give connections back and make them again; hosts connect to armcirun by TCP; mpich and
# openmpi: their launcher starts the program, which has no MPI, by PMI. Then the stranger spares the
# launcher's own ports: that of MPICH ends its job when a stranger says something.
job() {
	began=$(milliseconds)
	start=$armcirun
	case $1 in
	nodes) set -- -n 4 -nodes 2 "$WORK/visited" "$2" ;;
	few) set -- -n 4 -nodes 4 env ARMCI_CONNECTIONS=1 "$WORK/visited" "$2" ;;
	hosts) set -- -hosts 127.0.0.2:2,127.0.0.3:2 -agent "$WORK/agent" "$WORK/visited" "$2" ;;
	mpich | openmpi)
		eval "start=\${RUN_$1% *}"
		set -- 4 env ARMCI_TCP_PORTS="$low-$high" sh "$here/../hosts/pretend.sh" 2 4 \
			"$WORK/visited" "$2"
		;;
	esac
	# shellcheck disable=SC2086
	timeout 60 ${STRANGERS_WITH:-} $start "$@" >"$WORK/out" 2>&1
	status=$?
	took=$(($(milliseconds) - began))
	return $status
}

# visit PAUSE BYTES ADDRESSES HOLD MILLISECONDS HOW: jobs with a stranger.
visit() {
	job "$6" "$5" || {
		echo "FAIL: $6 without a stranger"
		cat "$WORK/out"
		failures=$((failures + 1))
		return
	}
	alone=$took worst=0 good=0
	rm -f "$WORK/end"
	mkfifo "$WORK/end"
	case $6 in mpich | openmpi) ports="$low $high" ;; *) ports= ;; esac
	# shellcheck disable=SC2086
	"$WORK/stranger" $nobody "$1" "$2" "$3" "$4" $ports <"$WORK/end" >"$WORK/did" 2>&1 &
	stranger=$!
	exec 9>"$WORK/end"
	for _ in $(seq "$jobs"); do
		if job "$6" "$5" 9>&-; then
			good=$((good + 1))
		else
			sed 's/^/    | /' "$WORK/out" | head -5
		fi
		[ $took -gt $worst ] && worst=$took
	done
	exec 9>&-
	wait $stranger || { echo "FAIL: the stranger"; failures=$((failures + 1)); }
	verdict=done
	if [ $good -lt "$jobs" ] || [ $((worst - alone)) -gt $late ]; then
		verdict=FAIL
		failures=$((failures + 1))
	fi
	echo "$verdict $6 for $5 ms, a stranger every $1 us, $2 bytes, $3 addresses, $4 held:" \
		"$good of $jobs, $alone ms alone, $worst at most; $(cat "$WORK/did")"
}

for how in ${STRANGERS_HOW:-nodes few hosts}; do
	case $how in
	mpich | openmpi)
		eval "[ -n \"\${RUN_$how-}\" ]" || { echo "skip $how: no launcher"; continue; }
		;;
	esac
	for one in ${STRANGERS_CASES:-0,0,1,2000,0 0,95,3,500,0 1000,95,1,1000,200}; do
		# shellcheck disable=SC2046
		visit $(echo "$one" | tr , ' ') "$how"
	done
done
echo "$failures failures"
[ $failures -eq 0 ]
