#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nth.sh - what happens when the system refuses: in a job of two ranks the first, second, third ...
# call of a kind fails in each thread of one of them (strace injects the error), until two runs have
# no such call. Those of the software verbs device (ibv_reg_mr) are refused by the device, the
# Nth of the process; a job runs over it with ARMCI_TRANSPORT=rdma. Those of libfabric (fi_mr_reg)
# are refused by ofi/refuse.c. Those of malloc that a library of this project makes are refused by
# nomemory.c. Each run ends within 20 s, by itself: the program has passed, or a line says what
# failed. No rank is killed by a fault in the library, and nothing is left.
#
#   BUILD=... [NTH_NODES=2] [NTH_RANK=0] [NTH_PROGRAM="notify ..."] [RUN_mpich="... -n 2"]
#   sh nth.sh [CALL:ERROR:FIRST:LAST]...
#
# NTH_NODES: pretended nodes; on one the ranks share their memory. NTH_RANK: the rank whose calls
# fail. NTH_PROGRAM: programs of tests/c, or of another directory with their flavour, such as
# shmem/none/heap; each has all calls. Those of rma run under an MPI through armci-mpirma.
#
# Go's runtime ends the process by itself where it cannot have memory or its epoll, with a line of
# its own ("fatal error: runtime: ...", "runtime/cgo: ..."). Calls of the dynamic loader come before
# FIRST. Of epoll_ctl the first are those that add descriptors, which may fail.
set -u
dir=${WORK:-$BUILD/tests/fault/nth}
mkdir -p "$dir" || exit 1
case "$*" in
ibv_*) ;;
fi_*)
	NTH_REAL=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p |
		sed -n 's/.*libfabric\.so\.1 .*=> //p' | head -n 1)
	export NTH_REAL
	[ -n "$NTH_REAL" ] || { echo "skip: no libfabric.so.1"; exit 77; }
	ofi=$(cd "$(dirname "$0")/../ofi" && pwd)
	cc -O1 -shared -fPIC -I"$ofi/../../internal/ofi/libfabric" -Wl,-soname,libfabric.so.1 \
		-Wl,--version-script="$ofi/refuse.map" "$ofi/refuse.c" \
		-o "$dir/libfabric.so.1" || exit 1
	;;
malloc:*)
	cc -O1 -shared -fPIC -o "$dir/nomemory.so" "$(dirname "$0")/nomemory.c" || exit 1
	;;
*)
	command -v strace >/dev/null 2>&1 || { echo "skip: no strace"; exit 77; }
	strace -f --seccomp-bpf -qq -o /dev/null -e trace=getppid \
		-e inject=getppid:error=EPERM true 2>/dev/null ||
		{ echo "skip: strace can inject nothing here"; exit 77; }
	;;
esac
nodes=${NTH_NODES:-2}
export NTH_RANK="${NTH_RANK:-0}"
failures=0 skipped=
reason='^(\[[0-9?]+@.*[a-z]|libcaf_armci: )|(fatal error: runtime|^runtime/cgo): |loading shared'

cat >"$dir/rank" <<'END'
#!/bin/sh
[ "${ARMCI_JOB_RANK:-${PMI_RANK:-${OMPI_COMM_WORLD_RANK-}}}" = "$NTH_RANK" ] || exec "$@"
case $NTH_CALL in ibv_*) SOFTVERBS_REFUSE=${NTH_CALL#ibv_}:$NTH_WHEN exec "$@" ;;
fi_*) OFI_REFUSE=${NTH_CALL#fi_}:$NTH_WHEN OFI_REAL=$NTH_REAL \
	LD_LIBRARY_PATH=$NTH_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$@" ;;
malloc) NOMEMORY_AT=$NTH_WHEN LD_PRELOAD=$NTH_DIR/nomemory.so exec "$@" ;;
esac
exec strace -f --seccomp-bpf -qq -o "$NTH_DIR/trace" -e trace="$NTH_CALL" \
	-e inject="$NTH_CALL:error=$NTH_ERROR:when=$NTH_WHEN" "$@"
END
chmod +x "$dir/rank"

# left: shared memory and processes of the library that are there now.
left() { ls /dev/shm 2>/dev/null | grep -c '^armci'; }

# in_runtime: Go's runtime has crashed on a stack of its own, as the collector does for want of
# memory.
in_runtime() {
	grep -A 1 '^goroutine 0 ' "$dir/log" | grep -q '^runtime\.'
}

# fails CALL ERROR N: runs the program with the Nth call failing. It returns 1 if there was none.
fails() {
	NTH_DIR=$dir NTH_CALL=$1 NTH_ERROR=$2 NTH_WHEN=$3
	export NTH_DIR NTH_CALL NTH_ERROR NTH_WHEN
	rm -f "$dir/trace"
	status=0
	# shellcheck disable=SC2086 # a launcher and its arguments
	timeout 20 $launch "$dir/rank" $preload "$program" >"$dir/log" 2>&1 || status=$?
	grep -q INJECTED "$dir/trace" 2>/dev/null ||
		grep -q 'of [a-z_]* is refused' "$dir/log" || return 1
	runs=$((runs + 1))
	why=
	case $status in
	0) passed=$((passed + 1)) ;;
	124) why="it hangs" ;;
	139 | 135 | 136) # once in a hundred times Go's runtime crashes behind its own line
		grep -q '^fatal error: runtime: ' "$dir/log" || why="it crashes: status $status"
		;;
	*)
		grep -qE "$reason" "$dir/log" || in_runtime || why="no reason, status $status"
		! grep -qE '^panic:' "$dir/log" || why="it panics"
		! grep -q 'crashed with' "$dir/log" || grep -q 'runtime/cgo: ' "$dir/log" ||
			why="it crashes"
		;;
	esac
	[ "$(left)" -le "$before" ] || why="${why:+$why; }it leaves memory in /dev/shm"
	[ -z "$why" ] || {
		failures=$((failures + 1))
		echo "FAIL $1 fails with $2, call $3 of each thread: $why"
		sed 's/^/    | /' "$dir/log" | head -n 20
	}
	return 0
}

# to_run PROGRAM: sets how it is run; false if it is not built, or there is no launcher.
to_run() {
	case $1 in
	*/*) program=$BUILD/tests/$1 ;;
	*) program=$BUILD/tests/c/none/$1 ;;
	esac
	preload=
	launch="$BUILD/bin/armcirun -n 2 -nodes $nodes"
	case $1 in rma/*)
		flavour=${1#*/}
		flavour=${flavour%/*}
		eval "launch=\${RUN_$flavour-}"
		[ -n "$launch" ] || return 1
		launch="${launch% *} 2 $(dirname "$0")/../hosts/pretend.sh $nodes 2"
		preload=$BUILD/bin/armci-mpirma
		;;
	esac
	[ -x "$program" ]
}

# refuse CALL:ERROR:FIRST:LAST: runs the program with one call after the other failing.
refuse() {
	call=${1%%:*} rest=${1#*:}
	error=${rest%%:*} rest=${rest#*:}
	n=${rest%%:*} last=${rest#*:} runs=0 passed=0 none=0
	while [ "$n" -le "$last" ] && [ $none -lt 2 ]; do
		fails "$call" "$error" "$n" || none=$((none + 1))
		n=$((n + 1))
	done
	case $runs$call in 0malloc | 0fi_*)
		echo "FAIL $call: no call was refused"
		failures=$((failures + 1))
		;;
	esac
	echo "done $call $error: $runs runs, of which $passed passed all the same"
}

before=$(left)
[ $# -gt 0 ] || set -- socket:EMFILE:1:12 connect:ECONNREFUSED:1:6 bind:EADDRNOTAVAIL:1:6 \
	listen:EADDRINUSE:1:5 accept4:EMFILE:1:4 epoll_create1:EMFILE:1:6 epoll_ctl:ENOMEM:1:4 \
	eventfd2:EMFILE:1:6 memfd_create:ENOMEM:1:4 ftruncate:ENOSPC:1:4 mmap:ENOMEM:24:60 \
	clone3,clone:EAGAIN:1:8 sendto:ENOBUFS:1:8 recvfrom:ENOMEM:1:8 \
	sendmsg:ECONNRESET:1:4 recvmsg:ECONNRESET:1:4 openat:EMFILE:12:30 getsockopt:ENOBUFS:1:4
for name in ${NTH_PROGRAM:-notify}; do
	to_run "$name" || { echo "skip: no $name"; skipped=1; continue; }
	[ "$name" = "${NTH_PROGRAM:-notify}" ] || echo "$name"
	for case; do refuse "$case"; done
done
echo "$failures failures"
[ -z "$skipped" ] || [ $failures -gt 0 ] || exit 77
[ $failures -eq 0 ]
