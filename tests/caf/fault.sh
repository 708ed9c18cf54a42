# SPDX-License-Identifier: BSD-3-Clause
# fault.sh FLAVOUR - an image is killed while others wait for it, in each way that a program waits;
# on one node and on two. The job ends in time with a status that is not 0 and a line that names the
# dead image, and leaves no process and no file. It must end only what it started.
#
#   BUILD=... SOURCE=... RUN_none="... -n 2" WORK=... sh fault.sh none
#   FAULT_WAYS="sync_all sync_images around event lock co_sum gets"  FAULT_NODES="1 2"  choose
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
flavour=${1:?the launcher}
WORK=${WORK:-$BUILD/tests/caf/fault/$flavour}
dir=$WORK
. "$SOURCE/tests/fault/job.sh"
mkdir -p "$dir" || exit 1
eval "run=\$RUN_$flavour"

# launch_on NODES
launch_on() {
	launch="${run% *} $ranks $SOURCE/tests/hosts/pretend.sh $1 $ranks"
	[ "$flavour" != none ] || launch="${run% *} $ranks -nodes $1"
}

# kill_image WAY RANK NODES
kill_image() {
	case="$flavour kill image $(($2 + 1)) of $ranks during $1 on $3 nodes"
	launch_on "$3"
	kill_victim "$BUILD/tests/caf/ends/$flavour/victim" "$1" $(($2 + 1)) "$2" || return
	[ "$flavour" = mpich ] || names_dead "$2" "$victim"
	echo "done $case: status $status after $took s"
}

for nodes in ${FAULT_NODES:-1 2}; do
	for way in ${FAULT_WAYS:-sync_all sync_images around event lock co_sum gets}; do
		# On a node neither needs a data server.
		case $way-$nodes in gets-1 | around-1) continue ;; esac
		kill_image $way 2 $nodes
	done
done
echo "$failures failures"
[ $failures -eq 0 ]
