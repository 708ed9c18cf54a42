# SPDX-License-Identifier: BSD-3-Clause
# What must be the same under every launcher, for programs that are not linked with MPI. Sourced, in
# the test's own directory. start N PROGRAM... is the launcher's; $programs is where the programs of
# tests/c and tests/fortran are, $tests the directory of all suites.

# prepare WORDS: compiles ends.c, and writes ./start, which timeout can start:
# `./start N PROGRAM...` runs WORDS with these.
prepare() {
	$CC_none -I"$SOURCE/include" -o ends "$tests/slurm/ends.c" -L"$BUILD/lib" \
		-Wl,-rpath,"$BUILD/lib" -larmci || exit 1
	printf '#!/bin/sh\nn=$1; shift; exec %s -n "$n" "$@"\n' "$1" >start
	chmod +x start
}
launcher=./start

# correct PROGRAM RANKS...
correct() {
	for n in $2; do
		run "$1 on $n" 0 start "$n" "$programs/c/none/$1"
		says out "ok $1 ($n rank"
	done
}

failing() { ! "$@"; }

# ended CASE STATUS|failure PATTERN ARGUMENT...: a program on 4 ranks ends in some way; one line of
# ours matches the pattern. A launcher that ends all ranks with the first may have done so before
# one could say why; its_line is then what it says itself.
its_line='no such line'
most_lines=1 # of ours: one rank says why the job ends
ended() {
	name=$1 status=$2 pattern=$3
	shift 3
	before=$(date +%s)
	if [ "$status" = failure ]; then
		run "$name" 0 failing timeout -k 5 30 "$launcher" 4 ./ends "$@"
	else
		run "$name" "$status" timeout -k 5 30 "$launcher" 4 ./ends "$@"
	fi
	[ $(($(date +%s) - before)) -le 10 ] || fail "took longer than 10 s"
	[ -z "$pattern" ] || grep -q "$its_line" err || says err "^\\[[0-9?]@[^]]*\\] .*$pattern"
	[ -z "$pattern" ] || [ "$(grep -c '^\[[0-9?]@' err)" -le $most_lines ] ||
		fail "more than $most_lines line of the library: $(cat err)"
}

# Of several that fail at the same time, the launcher chooses the status that it returns: srun the
# highest; of_several=failure: any.
endings() {
	ended "rank 2 killed" failure 'rank 2 .*died' kill 2
	ended "rank 0 killed" failure 'rank 0 ' kill 0
	ended "ARMCI_Error of rank 1" 7 'on purpose (code 7)' error 1
	ended "ARMCI_Error of rank 0" 7 'on purpose (code 7)' error 0
	ended "rank 1 exits with 9" "${of_several:-9}" 'rank 1 ' exit 1
	ended "rank 2 leaves the others" 1 'rank 2 .*without ARMCI_Finalize' leave 2
	ended "no ARMCI_Finalize" 0 "" apart 0
	[ "$(grep -c 'of 4 is done' out)" -eq 4 ] || fail "not all ranks ended well"
	silent_but_launcher
	ended "start again and again" 0 "" again
	says out '4 ranks, all well'
	ended "children that exit" 0 "" fork
	says out '4 ranks, all well'
}

silent_but_launcher() { ! grep -q '^\[[0-9?]@' err || fail "the library complains"; }

# What is in /dev/shm, without what MPIs of other programs have there for a while.
shared() {
	ls /dev/shm | grep -v -e '^vader_segment' -e '^sm_segment' -e '^ucx_shm' -e '^mpich'
}

clean() {
	shared >now
	cmp -s shm now || { case=shm && fail "left in /dev/shm: $(diff shm now | tr '\n' ' ')"; }
}
