# SPDX-License-Identifier: BSD-3-Clause
# fault.sh - a rank is killed in the middle of one-sided communication: holding a lock for which
# others wait, missing in a fence or in a post-start epoch, as the target of puts and of atomic
# operations; on one node and on two. The job ends in time with a status that is not 0, and leaves
# no process and no file. It must end only what it started.
#
#   BUILD=... SOURCE=... CC_openmpi=... RUN_openmpi="... -n 2" [CC_mpich RUN_mpich]
#   WORK=... sh fault.sh
#   FAULT_LAUNCHERS="openmpi mpich"  FAULT_WAYS="lock fence target counter pscw wait around"  choose
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
WORK=${WORK:-$BUILD/tests/rma/fault}
. "$SOURCE/tests/fault/job.sh"
patience=15

# build FLAVOUR: false if the flavour is not there.
build() {
	eval "cc=\$CC_$1 run=\$RUN_$1"
	[ -n "$cc" ] && [ -n "$run" ] || return 1
	dir=$WORK/$1
	mkdir -p "$dir" || exit 1
	$cc -std=gnu11 -O2 -g -Wall -Wextra ${WERROR-} -o "$dir/victim" "$here/fault/victim.c" ||
		exit 1
}

# kill_rank WAY RANK NODES
kill_rank() {
	case="$flavour kill rank $2 of $ranks during $1 on $3 nodes"
	launch="${run% *} $ranks $SOURCE/tests/hosts/pretend.sh $3 $ranks $BUILD/bin/armci-mpirma"
	kill_victim "$dir/victim" "$1" "$2" "$2" || return
	echo "done $case: status $status after $took s"
}

for flavour in ${FAULT_LAUNCHERS:-openmpi mpich}; do
	build $flavour || { echo "skip $flavour: not there"; continue; }
	for way in ${FAULT_WAYS:-lock fence target counter pscw wait around}; do
		kill_rank $way 2 1
		kill_rank $way 0 2
	done
done
echo "$failures failures"
[ $failures -eq 0 ]
