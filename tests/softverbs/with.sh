#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# with.sh DIRECTORY COMMAND [ARGUMENT]... - runs a command where the software verbs device is the
# only one: DIRECTORY has libibverbs.so.1 and softverbs-sysfs. SOFTVERBS_LINK is ethernet or
# infiniband. With SOFTVERBS_HOSTS=1 the hosts of ../hosts, which have a /dev/shm of their own, have
# that device too, each with its own address. What killed processes have left of the device goes at
# the end. SOFTVERBS_UCX=1: UCX finds the device, too, for which there has to be a directory
# /dev/infiniband (root).
set -u
lib=${1:?}
shift
work=$(mktemp -d) || exit 1
export SOFTVERBS_DIR="/dev/shm/softverbs.$$" ARMCI_RDMA_SYSFS="$work/class"
[ "${SOFTVERBS_HOSTS:-0}" = 0 ] || SOFTVERBS_DIR=$work/segments
made=
trap 'rm -rf "$work" "$SOFTVERBS_DIR"; [ -z "$made" ] || rmdir $made' EXIT
trap 'exit 1' HUP INT TERM
# Now, since a test that looks for what a job leaves has to have seen it before.
[ "${SOFTVERBS_HOSTS:-0}" != 0 ] || mkdir -m 700 "$SOFTVERBS_DIR" || exit 1

if [ "${SOFTVERBS_UCX:-0}" != 0 ] && mkdir /dev/infiniband 2>/dev/null; then
	made=/dev/infiniband
fi

# class DIRECTORY N: the device of the Nth host.
class() {
	case ${SOFTVERBS_LINK:-ethernet} in
	ethernet) "$lib/softverbs-sysfs" "$1" ethernet "10.77.0.$2" ;;
	infiniband) "$lib/softverbs-sysfs" "$1" infiniband $((16 + $2)) ;;
	esac || exit
}

class "$ARMCI_RDMA_SYSFS" 1
i=0
for letter in a b c d e f g h; do
	i=$((i + 1))
	class "$ARMCI_RDMA_SYSFS.armcih$letter" $i
done
export LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
"$@"
