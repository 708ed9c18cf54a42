# SPDX-License-Identifier: BSD-3-Clause
# crash.sh - what is printed when a rank crashes, inside the library and outside of it, and how the
# job ends: by armcirun on 2 ranks, of which rank 1 crashes, and the plainest cases under each MPI.
# It ends only what it started.
#
#   BUILD=... SOURCE=... CC_none=... RUN_none="... -n 2" [CC_openmpi RUN_openmpi CC_mpich RUN_mpich]
#   WORK=... sh crash.sh
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
WORK=${WORK:-$BUILD/tests/crash}
LIBDIR=${LIBDIR:-$BUILD/lib}
mkdir -p "$WORK" || exit 1
. "$here/job.sh"
ulimit -c 0

# build FLAVOUR: compiles the program and sets launch; false if the flavour is not there.
build() {
	eval "cc=\$CC_$1 run=\$RUN_$1"
	[ -n "$cc" ] && [ -n "$run" ] || return 1
	launch=$run
	dir=$WORK/$1
	mkdir -p "$dir"
	$cc -std=gnu11 -O2 -g -Wall -Wextra ${WERROR-} -I"$SOURCE/include" -o "$dir/crash" \
		"$here/crash.c" -L"$LIBDIR" -Wl,-rpath,"$LIBDIR" -larmci || exit 1
}

crash() {
	case="$flavour $1 ARMCI_FASTPATH=$ARMCI_FASTPATH ARMCI_BACKTRACE=$ARMCI_BACKTRACE"
	start "$dir/crash" "$1"
	began=$(now)
	finish 15
	clean
	echo "done $case: status $status after $took s"
}

# ended STATUS: how armcirun reports it; the MPI launchers have their own ways, but none is 0.
ended() {
	[ "$flavour" = none ] && [ "$status" -ne "$1" ] && fail "exit status $status, not $1"
	[ "$1" -ne 0 ] && [ "$status" -eq 0 ] && fail "exit status 0"
}

has() {
	grep -E -q "$1" "$dir/err" || fail "nothing on standard error matches \"$1\""
}

reports() {
	n=$(grep -c 'crashed with' "$dir/err")
	[ "$n" -eq "$1" ] || fail "$n crash reports, not $1"
}

# inside CASE SIGNAL FUNCTION LANGUAGE: one report, in that public function, with a frame of that
# language, called by the program; the other rank ends.
inside() {
	crash "$1"
	reports 1
	has "^\[1@[^]]*\] crashed with $2 at address 0x[0-9a-f]+ in $3\$"
	has "^\[1@[^]]*\]   $4 "
	has "^\[1@[^]]*\]   C  .*\(crash\.c:[0-9]+\)\$"
	[ "$(grep -c "^\[1@[^]]*\]   C  PARMCI" "$dir/err")" -le 1 ] ||
		fail "a public function is listed twice"
	has "^\[0@[^]]*\] .*rank 1"
	ended 139
}

# outside CASE STATUS: no report; the process ends as it would without the library.
outside() {
	crash "$1"
	reports 0
	ended "$2"
}

survives() {
	crash "$1"
	ended 0
	grep -q "survived $1" "$dir/out" || fail "the job did not go on"
}

all_cases() {
	for ARMCI_FASTPATH in y n; do
		go=C
		[ $ARMCI_FASTPATH = n ] && go=Go
		inside put SIGSEGV ARMCI_Put $go
		inside get SIGSEGV ARMCI_Get $go
		inside puts SIGSEGV ARMCI_PutS $go
		inside counts SIGSEGV ARMCI_PutS C
		inside acc SIGSEGV ARMCI_Acc $go
		inside bcast SIGSEGV armci_msg_bcast $go
		outside own 139
		outside abort 134
		outside divide 136
		outside handler-before-own 7
		has 'own handler: signal 11 at 0x10$'
	done
	ARMCI_FASTPATH=y
	inside put-alarms SIGSEGV ARMCI_Put C
	crash handler-before-put
	reports 1
	has 'own handler: signal 11 at 0x10$'
	ended 7
	for when in before after; do
		survives handler-$when-jump
		survives handler-$when-mend
	done
	outside handler-after-own 7
	outside handler-after-put 7
	has 'own handler: signal 11 at 0x10$'
	ARMCI_BACKTRACE=n
	outside put 139
	outside own 139
	ARMCI_BACKTRACE=y
}

# Where alternate signal stacks are refused, the Go runtime cannot start: the library says so.
refused() {
	case="sigaltstack refused"
	$CC_none -std=gnu11 -O2 -Wall -Wextra ${WERROR-} -o "$dir/refuse" "$here/refuse.c" || exit 1
	"$dir/refuse" sigaltstack 1 "$dir/crash" own >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status -eq 77 ] && { echo "skip $case: no seccomp"; return; }
	has '^libarmci: the system call sigaltstack is refused'
	[ $status -eq 1 ] || fail "exit status $status, not 1"
}

ARMCI_FASTPATH=y ARMCI_BACKTRACE=y
export ARMCI_FASTPATH ARMCI_BACKTRACE
for flavour in ${FAULT_LAUNCHERS:-none openmpi mpich}; do
	if ! build "$flavour"; then
		echo "skip $flavour: no compiler or launcher"
	elif [ "$flavour" = none ]; then
		all_cases
		refused
	else
		inside put SIGSEGV ARMCI_Put C
		inside put-alarms SIGSEGV ARMCI_Put C
		outside own 139
		outside abort 134
	fi
done
echo "$failures failures"
[ $failures -eq 0 ]
