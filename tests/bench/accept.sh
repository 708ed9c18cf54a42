#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# accept.sh - armci_accept -quick: between pretended nodes over TCP, over libfabric and over the
# software verbs device, on one node, and under the MPIs there are. The report is whole in both
# forms, its verdict is right, and no name of the host, the user or a directory is in it. What
# cannot be used, a wrong result and a launcher that starts nothing are failures that say why.
# Input: BUILD WORK.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/work.sh"
cd "$WORK" || exit 1
accept=$BUILD/bin/armci_accept run="$BUILD/bin/armcirun"

# accepted NAME VERDICT STATUS WORD...: runs it, and looks at the report.
accepted() {
	name=$1 verdict=$2 want=$3
	shift 3
	status=0
	"$@" >log 2>&1 || status=$?
	[ $status -eq "$want" ] || fail "$name: exit status $status, wanted $want"
	"$here/accept_report.sh" "$name" "$verdict" || fail "$name: see above"
	echo "done $name"
}

says() { grep -q -e "$2" "$1.txt" || fail "$1: the report does not say \"$2\""; }

accepted tcp passed 0 "$accept" -quick -o tcp -transports tcp "$run" -nodes 2 -n 4
says tcp '^  tcp  *passed, 4 ranks.*phases'
says tcp '^  put+fence/mixed .*8 B .* us'
says tcp '^  matrix product, get and accumulate over tcp: passed'
says tcp 'pretended nodes'
for n in 2 4; do says tcp "^  *$n  *[0-9.]* "; done
accepted node passed 0 "$accept" -quick -o node "$run" -n 2
says node 'One node: nothing is shown of networks'

# What is asked for and is not there, also as a setting.
accepted nodevice failed 1 "$accept" -quick -o nodevice -transports rdma,tcp -only correctness \
	env ARMCI_RDMA_SYSFS=/nonexistent "$run" -nodes 2 -n 2
says nodevice 'rdma was asked for: not usable on node 0: no RDMA device on this host'
accepted setting failed 1 env ARMCI_TRANSPORT=rdma ARMCI_RDMA_SYSFS=/nonexistent \
	"$accept" -quick -o setting "$run" -nodes 2 -n 2
says setting 'no RDMA device on this host'
accepted onenode failed 1 "$accept" -quick -o onenode -transports tcp "$run" -n 2
says onenode 'tcp was asked for: there is one node'
accepted nolauncher failed 1 "$accept" -quick -o nolauncher ./nowhere -n 2
says nolauncher 'the launcher does not start a job'
# A program that goes wrong: the seed and the command that repeats it are told.
wrong='case $* in *-model*) echo "on purpose" >&2; exit 3 ;; esac; exec "$@"'
accepted wrong failed 1 "$accept" -quick -o wrong -seed 77 -transports tcp "$run" -nodes 2 -n 2 \
	sh -c "$wrong" -
says wrong 'Random operations over tcp: exit status 3'
says wrong 'again: .* MODEL_SEED=77 PREFIX/libexec/armci/accept-model'
says wrong '^    on purpose'
"$accept" >log 2>&1 && fail "without a launcher"
grep -q 'no LAUNCHER' log || fail "what is wrong is not told"

device=$BUILD/tests/softverbs
if [ -x "$device/softverbs-sysfs" ]; then
	over() { "$here/../softverbs/with.sh" "$device" "$@"; }
	accepted rdma passed 0 over "$accept" -quick -o rdma -transports rdma "$run" -nodes 2 -n 2
	says rdma '^  rdma  *passed, 2 ranks'
	says rdma '^  verbs [^ ]* port 1 .*ACTIVE'
	[ ! -x "$BUILD/libexec/armci/accept-verbs" ] ||
		says rdma '^Speed over rdma beside raw verbs'
	accepted device failed 1 over env ARMCI_RDMA_DEVICE=nosuch \
		"$accept" -quick -o device -transports rdma "$run" -nodes 2 -n 2
	says device 'ARMCI_RDMA_DEVICE: there is no device nosuch'
else
	echo "skip: no software verbs device"
fi

if command -v fi_info >/dev/null && IPATH_NO_BACKTRACE=1 fi_info -p shm >/dev/null 2>&1; then
	accepted ofi passed 0 "$accept" -quick -o ofi -transports ofi:shm "$run" -nodes 2 -n 2
	says ofi '^  ofi:shm  *passed, 2 ranks'
	accepted provider failed 1 "$accept" -quick -o provider -transports ofi:nosuch \
		"$run" -nodes 2 -n 2
	says provider 'ofi:nosuch was asked for: libfabric has no such provider'
else
	echo "skip: libfabric offers no shm here (packages libfabric1, libfabric-bin)"
fi

# Under an MPI: its windows and messages stand beside ours.
node='ARMCI_NODE=node${OMPI_COMM_WORLD_RANK:-$PMI_RANK} exec "$@"'
for mpi in openmpi:mpirun.openmpi mpich:mpiexec.hydra; do
	if [ -x "$BUILD/libexec/armci/accept-${mpi%:*}" ] && command -v "${mpi#*:}" >/dev/null; then
		oversubscribe=
		[ "${mpi%:*}" = mpich ] || oversubscribe=--oversubscribe
		accepted "${mpi%:*}" passed 0 env OMPI_ALLOW_RUN_AS_ROOT=1 \
			OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$accept" -quick -o "${mpi%:*}" \
			-transports tcp "${mpi#*:}" $oversubscribe -n 2 sh -c "$node" -
		says "${mpi%:*}" '^  one-sided-put '
		says "${mpi%:*}" '^  MG S, .*: passed; ours .* messages '
	else
		echo "skip: no ${mpi#*:}, or no program of armci_accept for it"
	fi
done
echo "ok perf/accept"
