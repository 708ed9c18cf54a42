# SPDX-License-Identifier: BSD-3-Clause
# fault.sh - a PE is killed while others wait for it, in each way that a program waits; on one node
# and on two. The job ends in time with a status that is not 0 and a line that names the dead PE,
# and leaves no process and no file. It must end only what it started.
#
#   BUILD=... SOURCE=... RUN_none="... -n 2" WORK=... sh fault.sh
#   FAULT_WAYS="barrier wait lock reduce gets"  FAULT_NODES="1 2"  choose
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../../.." && pwd)}
WORK=${WORK:-$BUILD/tests/shmem/fault}
dir=$WORK
. "$SOURCE/tests/fault/job.sh"
mkdir -p "$dir" || exit 1

# kill_pe WAY PE NODES
kill_pe() {
	case="kill PE $2 of $ranks during $1 on $3 nodes"
	launch="${RUN_none% *} $ranks -nodes $3"
	kill_victim "$BUILD/tests/shmem/fault/victim" "$1" "$2" "$2" || return
	names_dead "$2" "$victim"
	echo "done $case: status $status after $took s"
}

for nodes in ${FAULT_NODES:-1 2}; do
	for way in ${FAULT_WAYS:-barrier wait lock reduce gets}; do
		kill_pe "$way" 2 "$nodes"
	done
done
echo "$failures failures"
[ $failures -eq 0 ]
