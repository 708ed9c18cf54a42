#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# with.sh DIRECTORY COMMAND [ARGUMENT]... - runs a command where the software verbs device is the only one: DIRECTORY has
# libibverbs.so.1 and softverbs-sysfs. SOFTVERBS_LINK is ethernet or infiniband. Afterwards nothing of the device is left;
# what processes that were killed have left goes here.
set -u
lib=${1:?}
shift
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work" "$SOFTVERBS_DIR"' EXIT
trap 'exit 1' HUP INT TERM
case ${SOFTVERBS_LINK:-ethernet} in
ethernet) "$lib/softverbs-sysfs" "$work/class" ethernet 10.77.0.1 ;;
infiniband) "$lib/softverbs-sysfs" "$work/class" infiniband 17 ;;
esac || exit
export SOFTVERBS_DIR="/dev/shm/softverbs.$$" ARMCI_RDMA_SYSFS="$work/class"
export LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
"$@"
