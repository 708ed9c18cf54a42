# SPDX-License-Identifier: BSD-3-Clause
# messages.sh - what the library says at the start: nothing, unless asked or something is wrong, and
# then once per job.
#
#   BUILD=... SOURCE=... CC_none=... RUN_none="... -n 2" [CC_openmpi RUN_openmpi CC_mpich RUN_mpich]
#   WORK=... sh messages.sh
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
WORK=${WORK:-$BUILD/tests/messages}
LIBDIR=${LIBDIR:-$BUILD/lib}
. "$here/job.sh"
. "$here/../beside.sh"
unset ARMCI_VERBOSE ARMCI_TRACE ARMCI_SPIN

build() {
	eval "cc=\$CC_$1 run=\$RUN_$1"
	[ -n "$cc" ] && [ -n "$run" ] || return 1
	launch="${run% *} 3"
	dir=$WORK/$1
	mkdir -p "$dir"
	$cc -std=gnu11 -O2 -g -Wall -Wextra ${WERROR-} -I"$SOURCE/include" -o "$dir/messages" \
		"$here/messages.c" -L"$LIBDIR" -Wl,-rpath,"$LIBDIR" -larmci || exit 1
}

# run CASE NAME=value...: the job with these settings.
run() {
	case="$flavour $1"
	shift
	# shellcheck disable=SC2086
	env "$@" $launch "$dir/messages" >"$dir/out" 2>"$dir/err"
	status=$?
	echo "done $case: status $status"
}

# lines COUNT PATTERN: so many lines of the library match.
lines() {
	n=$(grep -E '^\[[0-9?]+@' "$dir/err" | grep -E -c -e "$2")
	[ "$n" -eq "$1" ] || fail "$n lines match \"$2\", not $1"
}

ends() {
	case $1 in
	well) [ $status -eq 0 ] || fail "exit status $status" ;;
	badly) [ $status -ne 0 ] || fail "exit status 0" ;;
	esac
}

plain_cases() {
	warn='^\[0@[^]]*\] warning:'
	run silent
	ends well
	lines 0 .
	run verbose ARMCI_VERBOSE=1
	ends well
	lines 1 '^\[0@[^]]*\] libarmci [0-9.]+: 3 ranks on 1 node'
	lines 1 .
	run unknown ARMCI_VERBOS=1 ARMCI_ENTIRELY_UNKNOWN=1
	ends well
	lines 1 "$warn ARMCI_VERBOS is no setting of this library; did you mean ARMCI_VERBOSE\?\$"
	lines 1 "$warn ARMCI_ENTIRELY_UNKNOWN is no setting of this library\$"
	lines 2 .
	run foreign ARMCI_SHM_LIMIT=1 ARMCI_DEFAULT_SHMMAX=1
	ends well
	lines 0 .
	run 'former names' ARMCI_TCP_TIMEOUT=9s ARMCI_RDMA_POLL=1ms ARMCI_POLL=2ms
	ends well
	lines 1 "$warn ARMCI_TCP_TIMEOUT is a former name: set ARMCI_TIMEOUT instead\$"
	former='ARMCI_RDMA_POLL is a former name of ARMCI_POLL'
	lines 1 "$warn $former, which is set too and counts\$"
	lines 2 .
	run bad ARMCI_SPIN=often
	ends badly
	lines 1 '^\[0@[^]]*\] [a-zA-Z_]+: ARMCI_SPIN="often": must be a whole number, not negative'
	lines 1 .
	run trace ARMCI_TRACE=1
	ends well
	lines 3 'ARMCI_Put: 8 bytes, local 0x[0-9a-f]+ -> rank [0-2] at 0x[0-9a-f]+$'
	lines 1 '^\[2@[^]]*\] ARMCI_Barrier$'
}

# The rank that tells is slow: its standard error is full until all other ranks could have left and
# ended the job. Descriptor 4 keeps the FIFO open: on a busy machine the ranks may start after it
# has been emptied.
slow_teller() {
	case="$flavour a slow rank tells"
	rm -f "$dir/slow"
	mkfifo "$dir/slow"
	exec 4<>"$dir/slow"
	(sleep 1 && cat <"$dir/slow" >"$dir/told") 4>&- &
	reader=$!
	yes '' | head -c 65536 >"$dir/slow"
	# shellcheck disable=SC2016,SC2086
	SLOW=$dir/slow ARMCI_SPIN=often $launch sh -c \
		'[ "$PMI_RANK$OMPI_COMM_WORLD_RANK$ARMCI_JOB_RANK" != 0 ] || exec 2>"$SLOW"
		exec "$0"' "$dir/messages" >"$dir/out" 2>"$dir/err" 4>&-
	status=$?
	exec 4>&-
	wait $reader
	cat "$dir/told" >>"$dir/err"
	echo "done $case: status $status"
	ends badly
	lines 1 '^\[0@[^]]*\] [a-zA-Z_]+: ARMCI_SPIN="often"'
	lines 1 .
}

# Three servers of one host cannot share a port: two ranks fail, one tells. (The port may be taken
# by others, too.)
one_port() {
	run 'nodes with one port for all' ARMCI_TCP_PORTS=47117
	ends badly
	lines 1 'ARMCI_TCP_PORTS'
	lines 1 .
}

# Settings that no launcher has to do with. They are refused on one node, though they are about
# others.
bad_values() {
	plain=$launch
	for value in ARMCI_TRANSPORT=infiniband ARMCI_EAGER=64g ARMCI_RDMA_EAGER=64g \
		ARMCI_BUFFER=1 ARMCI_TIMEOUT=0s ARMCI_POLL=1h; do
		run "bad $value" $value
		ends badly
		lines 1 "^\[0@[^]]*\] [a-zA-Z_]+: ${value%=*}=\"${value#*=}\": must be "
		lines 1 .
	done
	launch="${plain% *} 1"
	for value in ARMCI_TCP_PORTS=70-7 ARMCI_TCP_INTERFACE=10.0.0.0/99 ARMCI_RDMA_GID=first \
		ARMCI_RDMA_DEVICE=a:b:c \
		ARMCI_COST_MODEL=fast ARMCI_TCP_SERVERS=4097 ARMCI_SPIN=99999999999 \
		ARMCI_SHM_BASE=64 ARMCI_CONNECTIONS=99999999999; do
		run "bad $value" $value
		ends badly
		lines 1 "^\[0@[^]]*\] [a-zA-Z_]+: ${value%=*}.*"
		lines 1 .
	done
	run 'bad values, all told' ARMCI_TCP_PORTS=x ARMCI_RDMA_GID=y
	lines 1 'ARMCI_TCP_PORTS="x": must be .*; ARMCI_RDMA_GID="y": must be'
	launch=$plain
}

armcirun_cases() {
	plain=$launch
	launch="$plain sh -c '[ \$ARMCI_JOB_RANK != 2 ] || export ARMCI_SPIN=often; exec \"\$0\"'"
	case="$flavour one rank has a bad setting"
	eval "$launch \"$dir/messages\"" >"$dir/out" 2>"$dir/err"
	status=$?
	echo "done $case: status $status"
	ends badly
	lines 1 '^\[2@[^]]*\] [a-zA-Z_]+: ARMCI_SPIN="often"'
	lines 1 .
	launch="$plain -nodes 3"
	run 'nodes that cannot reach each other' ARMCI_TCP_INTERFACE=nowhere0
	ends badly
	spans='^\[0@[^]]*\] [a-zA-Z_]+: the job spans 3 nodes .*; tcp:'
	lines 1 "$spans"' ARMCI_TCP_INTERFACE="nowhere0": .* \(rank 0, [^)]*\)$'
	lines 1 .
	run 'nodes without this congestion control' ARMCI_TCP_CONGESTION=nosuch
	ends badly
	lines 1 "$spans"' ARMCI_TCP_CONGESTION=nosuch: '
	lines 1 .
	run 'nodes without a port' ARMCI_TCP_PORTS=70-7
	ends badly
	lines 1 '^\[0@[^]]*\] [a-zA-Z_]+: ARMCI_TCP_PORTS="70-7": must be'
	lines 1 .
	one_port
	launch=$plain
}

# A process that a launcher numbered, but that cannot join the others, must not take itself for a
# job of one rank.
apart_cases() {
	plain=$launch
	launch=
	numbered='started this as process [01].* \([A-Z_]* is set\), but'
	for variables in 'SLURM_PROCID=1 SLURM_NTASKS=4' 'SLURM_PROCID=0 SLURM_NTASKS=4' \
		PMIX_RANK=1 'PMI_RANK=1 PMI_SIZE=4'; do
		# shellcheck disable=SC2086 # two of them
		run "alone with $variables" $variables
		ends badly
		lines 1 "cannot find each other: .* $numbered .*: .*start it with"
		lines 1 .
	done
	run 'alone in the script of sbatch' SLURM_PROCID=0 SLURM_NTASKS=4 ENVIRONMENT=BATCH
	ends well
	lines 0 .
	launch=$plain
}

# other OTHER: the program of this flavour under the launcher of another, which works if its linker
# has left out the MPI that it does not use; then linked with that in spite of it.
other() {
	eval "launch=\$RUN_$1"
	run "under the launcher of $1"
	ends well
	$cc -Wl,--no-as-needed -I"$SOURCE/include" -o "$dir/messages" "$here/messages.c" \
		-L"$LIBDIR" -Wl,-rpath,"$LIBDIR" -larmci ||
		exit 1
	run "linked with $flavour, under the launcher of $1"
	ends badly
	alone='process 0 of 2 .*, but the .* that it uses knows no other process'
	lines 1 "$alone: start it with the launcher of"
}

flavour_cases() {
	flavour=$1
	if ! build "$flavour"; then
		echo "skip $flavour: no compiler or launcher"
		return 0
	fi
	plain_cases
	slow_teller
	case $flavour in
	none) bad_values; armcirun_cases; apart_cases ;;
	openmpi) [ -z "$RUN_mpich" ] || other mpich ;;
	mpich) [ -z "$RUN_openmpi" ] || other openmpi ;;
	esac
}

beside flavour_cases none openmpi mpich
echo "$failures failures"
[ $failures -eq 0 ]
