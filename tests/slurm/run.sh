#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - programs that are not linked with MPI under Slurm: srun with PMI-2, PMI-1 and PMIx, srun
# without any, sbatch. A cluster of this machine is started in a directory of its own, and ended
# whatever happens.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/cluster.sh"
needs_slurm
hosts=armci-slurm-$$
remove_hosts() {
	ip netns del $hosts-0 2>/dev/null
	ip netns del $hosts-1 2>/dev/null
}
shared >shm
cluster=$(mktemp -d)
trap 'stop_cluster; remove_hosts; rm -rf "$cluster"' EXIT
trap 'exit 1' INT TERM HUP
must_start "$cluster"

mpi=pmi2
start() {
	n=$1
	shift
	timeout -k 5 60 srun -Q -O -n "$n" --mpi=$mpi "$@"
}
prepare 'srun -Q -O --mpi=${MPI:-pmi2}'

correct contiguous "1 2 4"
correct strided 4
correct group "1 4"
correct message "2 4"
MODEL_SECONDS=1 correct model 2
endings
if [ -x "$programs/fortran/none/one_sided" ]; then
	run "Fortran" 0 start 2 "$programs/fortran/none/one_sided"
else
	echo "skip: no Fortran program"
fi
ARMCI_VERBOSE=y run "who has started it" 0 start 2 "$programs/c/none/contiguous"
says err 'started by srun (PMI-2)'
run "armci_info" 0 start 2 "$BUILD/bin/armci_info"
says out 'Job: 2 rank(s) on 1 node(s), started by srun (PMI-2)'

# Ranks dealt out in turn to two pretended nodes.
run "in turn" 0 start 4 sh -c 'ARMCI_NODE=node$((SLURM_PROCID % 2)) exec "$0"' \
	"$programs/c/none/message"
says out 'ok message (4 ranks)'

if srun --mpi=list 2>&1 | grep -q pmix && ldconfig -p | grep -q 'libpmix\.so\.2'; then
	mpi=pmix
	correct contiguous "1 4"
	correct group 2
	mpi=pmi2
else
	echo "skip: this srun has no PMIx, or no libpmix.so.2"
fi

# Each namespace is a host, with ranks of the step: 0 and 2, 1 and 3.
make_hosts() {
	ip netns add $hosts-0 && ip netns add $hosts-1 &&
		ip link add eth0 netns $hosts-0 type veth peer name eth0 netns $hosts-1 || return 1
	for i in 0 1; do
		ip -n $hosts-$i link set lo up &&
			ip -n $hosts-$i addr add 10.79.0.$((i + 1))/24 dev eth0 &&
			ip -n $hosts-$i link set eth0 up || return 1
	done
}
if make_hosts 2>ip.err; then
	launcher=./between
	printf '#!/bin/sh\nn=$1; shift; exec srun -Q -O -n "$n" --mpi=pmi2 "%s/host" "$@"\n' \
		"$PWD" >between
	printf '#!/bin/sh\n$UNSET\nexec ip netns exec %s-$((SLURM_PROCID %% 2)) "$@"\n' "$hosts" \
		>host
	chmod +x between host
	export UNSET="unset SLURM_STEP_NUM_NODES"
	run "between hosts" 0 timeout -k 5 60 ./between 4 "$programs/c/none/message"
	says out 'ok message (4 ranks)'
	ended "between hosts, rank 3 killed" failure 'rank 3 .*died' kill 3
	ended "between hosts, rank 0 killed" failure 'rank 0 ' kill 0
	ended "between hosts, ARMCI_Error of rank 1" 7 'on purpose (code 7)' error 1
	export UNSET=: # rank 0 takes them for one host
	most_lines=2
	ended "no way to rank 0" failure \
		'rank [13] of 4 cannot join the job: connect to rank 0: it is on another host' again
else
	echo "skip: no network namespaces: $(cat ip.err)"
fi
remove_hosts

mpi=none
run "without PMI" 5 start 4 ./ends
advice='srun started this as process [0-3] of 4 .*, but without PMI: use srun --mpi=pmi2'
[ "$(grep -c "$advice" err)" -eq 4 ] ||
	fail "not every rank says what to do"

# Neither the client library nor the MPI that would do instead of it.
mkdir -p nowhere
: >nowhere/libpmi2.so.0
: >nowhere/libmpich.so.12
mpi=pmi2
ARMCI_PMI=pmi2 LD_LIBRARY_PATH=$PWD/nowhere run "no libpmi2" 5 start 2 ./ends
advice='ARMCI_Init: .* libpmi2.so.0 is not installed, or cannot be loaded: install libpmi2-0'
[ "$(grep -c "$advice" err)" -eq 2 ] ||
	fail "not every rank says what to install"

# Slurm's plugin for PMI-2 speaks PMI-1, too, for which no library is needed.
launcher=./start
export LD_LIBRARY_PATH="$PWD/nowhere"
correct contiguous "2 4"
run "PMI-1 without libpmi2" 0 start 4 "$BUILD/bin/armci_info"
says out 'started by srun (PMI-1)'
ended "PMI-1, rank 2 killed" failure 'rank 2 .*died' kill 2
ended "PMI-1, ARMCI_Error of rank 1" 7 'on purpose (code 7)' error 1
ended "PMI-1, again and again" 0 "" again
says out '4 ranks, all well'
unset LD_LIBRARY_PATH

# In a batch job armcirun starts the ranks on this host; the script itself is one process.
cat >job <<-END
	#!/bin/sh
	"$BUILD/bin/armcirun" -n 4 "$programs/c/none/contiguous"
	"$programs/c/none/contiguous"
END
run "sbatch" 0 timeout -k 5 60 sbatch -Q -W -n 4 -O -o job.out job
grep -q 'ok contiguous (4 ranks)' job.out || fail "the job says: $(cat job.out)"
grep -q 'ok contiguous (1 ranks)' job.out || fail "the job says: $(cat job.out)"

clean
[ $failures -eq 0 ] || exit 1
echo "ok slurm"
