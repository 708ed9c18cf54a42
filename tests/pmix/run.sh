#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - programs that are not linked with MPI under a launcher with PMIx: prterun, or Open MPI's
# mpirun; they must not load Open MPI then.
set -u
here=$(cd "$(dirname "$0")" && pwd)
programs=$BUILD/tests
skip() { echo "skip: $*"; exit 77; }
prterun=$(command -v prterun || command -v mpirun.openmpi) ||
	skip "neither prterun nor mpirun.openmpi"
[ -n "${CC_none:-}" ] || skip "no C compiler"
ldconfig -p | grep -q 'libpmix\.so\.2' || skip "no libpmix.so.2 (package libpmix2)"

mkdir -p "$WORK"
cd "$WORK" || exit 1
tests=$(dirname "$here")
. "$tests/says.sh"
. "$tests/slurm/cases.sh"
shared >shm
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 \
	PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ARMCI_PMI=pmix
# PRRTE 2.0 crashes where it binds two processes.
prepare "$prterun --map-by :OVERSUBSCRIBE --bind-to none"
start() { timeout -k 5 60 ./start "$@"; }

correct contiguous "1 2 4"
correct group 4
correct message 2
of_several=failure
its_line='noticed that process rank [02] with PID .* exited on signal 9'
endings
ARMCI_VERBOSE=y run "who has started it" 0 start 2 "$programs/c/none/contiguous"
says err 'started by [a-z]*run (PMIx)'
# Open MPI 4.1's mpirun may crash when a process aborts the job while others are in PMIx_Fence.
case="too few descriptors"
# shellcheck disable=SC2016 # for the inner shell
start 4 sh -c 'ulimit -n 60; exec "$0"' "$programs/c/none/contiguous" >out 2>err && fail "it starts"
says err 'rank 0 needs a descriptor for each of 4 ranks, and 64 more, but may open 60'

# No server answers: every rank says so.
run "no server" 5 env PMIX_RANK=1 PMIX_NAMESPACE=nobody ./ends
started='prterun started this as process 1 (PMIX_RANK is set)'
says err "$started, but the launcher does not answer to PMIx"
! grep -q 'install' err || fail "it says to install what is there"
run "no server, rank 0" 5 env PMIX_RANK=0 PMIX_NAMESPACE=nobody ./ends
says err 'does not answer to PMIx'

clean
[ $failures -eq 0 ] || exit 1
echo "ok pmix"
