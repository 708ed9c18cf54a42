#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh nodes|hosts FLAVOUR NODESxRANKS ROOM... - the test programs on several nodes: pretended
# ones (ARMCI_NODE), or real hosts with networks and names of their own. FLAVOUR none is armcirun. A
# room is c, fortran, cxx, ga, rma, caf or shmem (what the other tests have built there; rma_check
# and rma_full are the parts of rma, caf_mpi, caf_check and caf_full of caf), or few: those of c
# that do most between nodes, or those that HOSTS_PROGRAMS names, as ROOM/NAME, or NAME for those
# of c. Those that HOSTS_WITHOUT names are left out; with HOSTS_HALF=0 or 1 every other program of a
# room.
#
#   BUILD=... RUN_none="... -n 2" [RUN_openmpi RUN_mpich] sh run.sh nodes none 2x2 c fortran
#
# The exit codes of the programs are the verdict, with what those of ga and caf say: 0 all passed, 1
# not, 77 skipped. A program that is not built has failed, too, if others ran and nothing says why
# it cannot be built.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/launch.sh"
[ $# -ge 4 ] || { sed -n '3,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mode=$1 flavour=$2 nodes=${3%x*} per=${3#*x}
shift 3
tests=$(dirname "$here")
WORK=${WORK:-$BUILD/tests/$mode/$flavour/${nodes}x$per}
mkdir -p "$WORK" && cd "$WORK" || exit 1
few="init malloc contiguous strided vector accumulate rmw mutex fence order nonblocking notify"
few=${HOSTS_PROGRAMS:-$few group_use message gop gpc}
failed=0
passed=0
unbuilt=

if [ "$mode" = hosts ]; then
	"$here/hosts.sh" down $prefix
	trap '"$here/hosts.sh" down $prefix' EXIT
	trap 'exit 1' HUP INT TERM
	"$here/hosts.sh" up $prefix "$nodes" || exit
fi
launch_on "$mode" "$flavour" "$nodes" "$per"

# listed ROOM: lines "ROOM NAME RANKS SETTING..." of the programs of a room.
listed() {
	case $1 in
	c) sed -n 's/^[a-z]/c &/p' "$tests/c/programs.txt" ;;
	few) for one in $few; do few_of "$one"; done ;;
	ga) sed -n 's/^\([a-z]*\) [cf] /ga \1 /p' "$tests/ga/programs.txt" ;;
	cxx | rma | caf | shmem)
		sed -n "s/^\([a-z]\S*\) \(\S*\) \S*/$1 \1 \2/p" "$tests/$1/programs.txt"
		;;
	cxx_* | rma_* | caf_*)
		sed -n "s/^\([a-z]\S*\) \(\S*\) ${1#*_}/${1%_*} \1 \2/p" \
			"$tests/${1%_*}/programs.txt"
		;;
	fortran)
		for f in "$tests"/fortran/*.f90; do
			echo "fortran $(basename "$f" .f90) 1,2,4"
		done
		;;
	esac
}

few_of() { # [ROOM/]NAME
	case $1 in
	*/*) listed "${1%/*}" | grep "^${1%/*} ${1#*/} " ;;
	*) few_of "c/$1" ;;
	esac
}

# MPI_Finalize of MPICH 4.0 over UCX hangs between hosts if the ranks of a part of the job have
# talked to each other by MPI: every other time after MPI_Comm_split, in programs of MPI alone as
# well. Nothing of ours is open then: a program says ok after ARMCI_Finalize (one of Global Arrays
# before its end).
limit=120 fewer=1
# The processors of the virtual machine are emulated.
[ "${ARMCI_TRANSPORT:-}" != rdma ] || limit=240 fewer=10
[ $mode-$flavour != hosts-mpich ] || limit=40
stuck() { [ $mode-$flavour = hosts-mpich ] && grep -q '^ok ' "$1"; }

# hurry PID LOG: a program that has said ok has eight seconds to end; then limited.sh, which is PID,
# is told that time is up.
hurry() {
	[ $mode-$flavour = hosts-mpich ] || return 0
	looks=40
	while kill -0 "$1" 2>/dev/null && [ $looks -gt 0 ]; do
		sleep 0.2
		! stuck "$2" || looks=$((looks - 1))
	done
	[ $looks -gt 0 ] || kill -ALRM "$1" 2>/dev/null || :
}

# said_ok ROOM NAME LOG: false if the program should have said so and has not.
said_ok() {
	case $1 in
	ga) grep -q "^ok ga/$2 on $ranks ranks" "$3" ;;
	caf | shmem) grep -q "^ *ok $2" "$3" ;;
	esac
}

uptime_s() { cut -d' ' -f1 /proc/uptime; }

# needs SOURCE: why a program is not built: there is no compiler, or its source says that it uses
# MPI, or needs a newer compiler.
needs() {
	eval "fc=\${FC_$flavour-?}"
	[ -e "$1.f90" ] || return 0
	[ -n "$fc" ] || echo "there is no Fortran compiler"
	[ "$flavour" != none ] || sed -n 's/^ *use \(mpi[_a-z0-9]*\).*/it uses \1/p' "$1.f90"
	sed -n 's/.*[Nn]eeds \(gfortran [0-9]*\).*/it needs \1/p' "$1.f90"
}

# not_built ROOM NAME
not_built() {
	why=$(needs "$SOURCE/tests/$1/$2" | head -1)
	[ -n "$why" ] || unbuilt="$unbuilt $1/$2"
	echo "skip $1/$2: not built for $flavour${why:+: $why}"
}

run() { # ROOM NAME SETTING...
	program=$BUILD/tests/$1/$flavour/$2 room=$1 name=$2 preload=
	[ "$1" != rma ] || preload=$BUILD/bin/armci-mpirma
	shift 2
	[ -x "$program" ] || { not_built "$room" "$name"; return; }
	log=$WORK/$room.$name.log
	status=0
	began=$(uptime_s)
	# shellcheck disable=SC2086 # words
	sh "$SOURCE/tests/limited.sh" $limit $launch env "$@" ROUNDS_DIVISOR=$fewer $preload \
		"$program" >"$log" 2>&1 &
	hurry $! "$log"
	wait $! || status=$?
	if [ $status -eq 77 ]; then
		echo "skip $room/$name: $(tail -n 1 "$log")"
	elif [ $status -eq 124 ] && stuck "$log"; then
		echo "passed but for the end, $room/$name: MPI_Finalize of MPICH hangs"
		passed=$((passed + 1))
	elif [ $status -ne 0 ] || ! said_ok "$room" "$name" "$log"; then
		echo "FAIL $room/$name on $nodes nodes with $per ranks each: exit $status"
		[ $status -eq 124 ] && shown=3000 || shown=20 # behind the limit come the stacks
		tail -n $shown "$log" | sed 's/^/    | /'
		failed=$((failed + 1))
	else
		took=$(uptime_s | awk -v began="$began" '{ printf "%.1f s", $1 - began }')
		echo "ok $room/$name $took"
		passed=$((passed + 1))
	fi
}

as=$ranks
[ $ranks -le 4 ] || as=4 # what runs on four runs on more
for room; do
	listed "$room" | awk -v half="${HOSTS_HALF:-}" 'half == "" || NR % 2 == half' \
		>"$WORK/$room.programs"
	while read -r of name counts settings; do
		case " ${HOSTS_WITHOUT:-} " in
		*" $name "*) continue ;;
		esac
		case ,$counts, in
		*,$as,*) run "$of" "$name" ${settings:-A=} ;;
		esac
	done <"$WORK/$room.programs"
done
if [ -n "$unbuilt" ] && [ $passed -gt 0 ]; then
	echo "FAIL not built for $flavour, though others are:$unbuilt"
	failed=$((failed + 1))
fi
echo "$mode $flavour ${nodes}x$per: $passed passed, $failed failed"
[ $failed -eq 0 ] || exit 1
[ $passed -gt 0 ] || exit 77
