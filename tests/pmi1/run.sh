#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - programs that are not linked with MPI under launchers with PMI-1: MPICH's mpiexec, and
# launcher.py, which speaks nothing else.
set -u
here=$(cd "$(dirname "$0")" && pwd)
programs=$BUILD/tests
skip() { echo "skip: $*"; exit 77; }
[ -n "${CC_none:-}" ] || skip "no C compiler"
hydra=$(command -v mpiexec.hydra) || echo "skip: no mpiexec.hydra (package mpich)"
python=$(command -v python3) || echo "skip: no python3, in which launcher.py is written"
[ -n "$hydra$python" ] || skip "neither of them"

mkdir -p "$WORK"
cd "$WORK" || exit 1
tests=$(dirname "$here")
. "$tests/says.sh"
. "$tests/slurm/cases.sh"
shared >shm
start() { timeout -k 5 60 ./start "$@"; }
# An MPICH and a PMI-2 that cannot be loaded.
mkdir -p nowhere no_mpich
: >nowhere/libpmi2.so.0
: >nowhere/libmpich.so.12
cp nowhere/libmpich.so.12 no_mpich

# started_by WORDS: by what a program was.
started_by() {
	ARMCI_VERBOSE=y run "who has started it, $*" 0 start 2 "$programs/c/none/contiguous"
	says err "started by mpiexec ($*)"
}

# in_turn: ranks are dealt out in turn to two pretended nodes.
in_turn() {
	run "in turn" 0 start 4 sh -c \
		'ARMCI_NODE=node$((${PMI_RANK:-$PMI_ID} % 2)) exec "$0"' "$programs/c/none/$1"
	says out "ok $1 (4 ranks)"
}

# accepted: the ranks of armci_accept, which describe their nodes, leave the launcher. Few providers
# of libfabric take less time.
accepted() {
	FI_PROVIDER=tcp run "armci_accept" 0 timeout -k 5 60 "$BUILD/bin/armci_accept" -quick \
		-only correctness ./start 2
	says err 'armci_accept: passed; the report is in'
}

under_hydra() {
	prepare "$hydra \${OPTIONS:-}"
	export ARMCI_PMI=pmi1
	correct contiguous "1 2 4"
	correct group 4
	correct message 2
	in_turn message
	started_by PMI-1
	# it ends all ranks with the first that dies
	of_several=failure
	its_line='BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES'
	endings
	export OPTIONS=-pmi-port
	correct message 4
	in_turn strided
	ended "with a port, rank 2 killed" failure 'rank 2 .*died' kill 2
	ended "with a port, ARMCI_Error of rank 1" 7 'on purpose (code 7)' error 1
	# two proxies, each of which is a host
	export OPTIONS="-launcher fork -hosts localhost,127.0.0.1 -ppn 2"
	correct message 4
	run "armci_info" 0 start 4 "$BUILD/bin/armci_info"
	says out 'Job: 4 rank(s) on 1 node(s), started by mpiexec (PMI-1)'
	accepted
	unset OPTIONS ARMCI_PMI
	# where MPICH is not installed, PMI-1 is what is used, whether PMI-2 is there or not
	for without in no_mpich nowhere; do
		LD_LIBRARY_PATH=$PWD/$without started_by PMI-1
	done
	case="PMI-2 if chosen"
	if ldconfig -p | grep -q 'libpmi2\.so\.0'; then
		ARMCI_PMI=pmi2 started_by PMI-2
	fi
}

under_launcher() {
	prepare "$python $here/launcher.py \${OPTIONS:-}"
	export LD_LIBRARY_PATH="$PWD/no_mpich"
	correct contiguous "1 2 4"
	correct strided 4
	started_by PMI-1
	accepted
	of_several='' its_line='no such line'
	endings
	for OPTIONS in "--vallen 64" "--vallen 256" --port "--port --vallen 33"; do
		export OPTIONS
		correct message 4
		in_turn contiguous
	done
	ended "with a port, rank 3 killed" failure 'rank 3 .*died' kill 3
	# A launcher that refuses an interface is asked for the other, unless one was chosen.
	if ldconfig -p | grep -q 'libpmi2\.so\.0'; then
		export OPTIONS="--other refuse"
		ARMCI_PMI=pmi2 run "PMI-2 refused" 5 start 2 ./ends
		says err 'but the launcher does not answer to PMI-2 (PMI2_Init): use one that does'
	fi
	export OPTIONS="--version 2 --other refuse" LD_LIBRARY_PATH="$PWD/nowhere"
	run "PMI-1 refused" 5 start 2 ./ends
	says err 'does not answer to PMI-1: use one that does; libpmi2.so.0 is not installed'
	ARMCI_PMI=pmi1 run "PMI-1 alone refused" 5 start 2 ./ends
	says err 'but the launcher does not answer to PMI-1: use one that does, or link'
	unset OPTIONS LD_LIBRARY_PATH
}

[ -z "$hydra" ] || under_hydra
[ -z "$python" ] || under_launcher

# A process without its launcher's socket says so, and does not wait.
run "no launcher" 5 env LD_LIBRARY_PATH="$PWD/nowhere" PMI_FD=77 PMI_RANK=0 PMI_SIZE=2 ./ends
says err 'mpiexec started this as process 0 of 2 (PMI_RANK is set), but the launcher.s socket was'
says err 'use a launcher that answers to PMI-1, or link the program with MPI'
run "no launcher at a port" 5 env LD_LIBRARY_PATH="$PWD/nowhere" PMI_PORT=127.0.0.1:1 PMI_ID=1 \
	./ends
says err 'process 1 (PMI_ID is set), but the launcher.s port (PMI_PORT): .*refused'

clean
[ $failures -eq 0 ] || exit 1
echo "ok pmi1"
