#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hosts.sh - a Slurm of two hosts, which tests/hosts/hosts.sh makes: srun with PMI-2 over both, and
# armcirun in a batch job, which finds the job's hosts and starts its ranks there by srun.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/cluster.sh"
needs_slurm
prefix=armcisl
cluster_nodes="${prefix}a=10.77.0.1 ${prefix}b=10.77.0.2"
on_node() { exec "$tests/hosts/inside.sh" "$@"; }
shared >shm
cluster=$(mktemp -d)
trap 'stop_cluster; "$tests/hosts/hosts.sh" down $prefix; rm -rf "$cluster"' EXIT
trap 'exit 1' INT TERM HUP
"$tests/hosts/hosts.sh" down $prefix
"$tests/hosts/hosts.sh" up $prefix 2 || exit
must_start "$cluster"

# Ranks 0 and 2 are on one host, 1 and 3 on the other, or in blocks.
first="$tests/hosts/inside.sh ${prefix}a"
prepare "$first srun -Q -O -N 2 \${MAP:--m cyclic} --mpi=pmi2"
start() { timeout -k 5 60 ./start "$@"; }
correct message 4
export MAP="-m block"
correct strided 4
unset MAP
run "armci_info" 0 start 4 "$BUILD/bin/armci_info"
says out 'Job: 4 rank(s) on 2 node(s), started by srun (PMI-2)'
# What a user with two nodes does. Ranks are in blocks, so that rank 2 is on the other host.
run "armci_accept" 0 timeout -k 5 120 "$BUILD/bin/armci_accept" -quick -o accept -transports tcp \
	$first srun -Q -O -m block --mpi=pmi2 -N 2 -n 4
says accept.txt 'Started by srun (PMI-2); 4 ranks, 2 nodes'
says accept.txt '^  tcp  *passed, 4 ranks'
says accept.txt '^Speed over tcp beside raw TCP, 4 ranks'
cat accept.txt >out
"$tests/bench/accept_report.sh" accept passed || fail "see above"
! grep -i "${prefix}[ab]" accept.txt accept.json || fail "the report names a host"
ended "rank 3 killed" failure 'rank 3 .*died' kill 3
ended "rank 0 killed" failure 'rank 0 ' kill 0
ended "ARMCI_Error of rank 1" 7 'on purpose (code 7)' error 1

# batch NAME STATUS ARGUMENT...: armcirun in a job of four tasks on both hosts.
batch() {
	name=$1 status=$2
	shift 2
	run "$name" "$status" timeout -k 5 60 $first salloc -Q -N 2 --ntasks-per-node=2 \
		-O "$BUILD/bin/armcirun" -v "$@"
	cat err >>out
}
batch "armcirun in a job" 0 "$programs/c/none/contiguous"
says out 'armcirun: hosts of SLURM_JOB_NODELIST, by srun'
says out 'ok contiguous (4 ranks)'
for rank in "0 (pid [0-9]* on ${prefix}a)" "1 (pid [0-9]* on ${prefix}a)" \
	"2 (pid [0-9]* on ${prefix}b)" "3 (pid [0-9]* on ${prefix}b)"; do
	says out "rank $rank started"
done
batch "armcirun in a job, in turn" 0 -map cyclic -bind core -n 2 "$programs/c/none/message"
says out 'ok message (2 ranks)'
batch "armcirun on one host of a job" 0 -hosts ${prefix}b:3 "$programs/c/none/contiguous"
says out "rank 2 (pid [0-9]* on ${prefix}b) started"
batch "armcirun in a job, but here" 0 -n 3 -nodes 1 "$programs/c/none/contiguous"
says out 'ok contiguous (3 ranks)'
batch "more ranks than tasks" 126 -n 5 "$programs/c/none/contiguous"
says out '5 ranks are more than the hosts of SLURM_JOB_NODELIST take (4)'
batch "armcirun in a job, rank 3 killed" 137 ./ends kill 3
says out 'rank 3 .* killed by signal 9'
batch "armcirun in a job, rank 2 fails" 7 ./ends error 2
! pgrep -f "$PWD/ends|^./ends" >left || fail "ranks are left: $(cat left)"

clean
[ $failures -eq 0 ] || exit 1
echo "ok slurm/hosts"
