#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# with.sh DIRECTORY COMMAND [ARGUMENT]... - runs a command where the software verbs device is the
# only one: DIRECTORY has libibverbs.so.1 and softverbs-sysfs. SOFTVERBS_LINK is ethernet or
# infiniband, SOFTVERBS_DEVICES how many devices a host has (1). With SOFTVERBS_HOSTS=1 the hosts of
# ../hosts, which have a /dev/shm of their own, have that device too, each with its own address.
# What killed processes have left of the device goes at the end. SOFTVERBS_UCX=1: UCX finds the
# device, too, for which there has to be a directory /dev/infiniband (root).
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

# class DIRECTORY N: the devices of the Nth host, all on NUMA node 0.
class() {
	k=0
	while [ $k -lt "${SOFTVERBS_DEVICES:-1}" ]; do
		device=$1/softverbs$k number=$((16 * k + $2))
		case ${SOFTVERBS_LINK:-ethernet} in
		ethernet) "$lib/softverbs-sysfs" "$device" ethernet "10.77.0.$number" ;;
		infiniband) "$lib/softverbs-sysfs" "$device" infiniband $((16 + number)) ;;
		esac && mkdir "$device/device" && echo 0 >"$device/device/numa_node" || exit
		k=$((k + 1))
	done
}

class "$ARMCI_RDMA_SYSFS" 1
i=0
for letter in a b c d e f g h; do
	i=$((i + 1))
	class "$ARMCI_RDMA_SYSFS.armcih$letter" $i
done
export LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
"$@"
