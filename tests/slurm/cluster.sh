# SPDX-License-Identifier: BSD-3-Clause
# A Slurm in a directory of its own: munged, slurmctld, slurmd. Sourced; needs_slurm comes first.
#   must_start DIR      # afterwards srun and sbatch work, by SLURM_CONF
#   stop_cluster        # at the end, whatever happens
# The caller's own directory is $here; what all launchers' tests need comes with this.
tests=$(dirname "$here")
. "$tests/says.sh"
. "$here/cases.sh"

# Its nodes, NAME=ADDRESS, and how a command runs on one: this machine alone, unless the caller says
# otherwise.
cluster_nodes=localhost=127.0.0.1
on_node() {
	shift
	exec "$@"
}
daemons=""

cluster_conf() {
	cat <<-END
		ClusterName=armci
		SlurmctldHost=${cluster_first%=*}(${cluster_first#*=})
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$1/munge.socket
		CredType=cred/munge
		SlurmctldPort=$2
		SlurmdPort=$(($2 + 1))
		SlurmctldPidFile=$1/slurmctld.pid
		SlurmdPidFile=$1/slurmd.%n.pid
		SlurmctldLogFile=$1/slurmctld.log
		SlurmdLogFile=$1/slurmd.%n.log
		StateSaveLocation=$1/state
		SlurmdSpoolDir=$1/spool.%n
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SchedulerType=sched/builtin
		AccountingStorageType=accounting_storage/none
		JobAcctGatherType=jobacct_gather/none
		SwitchType=switch/none
		MpiDefault=none
		ReturnToService=2
		InactiveLimit=0
		KillWait=5
		MinJobAge=30
		SlurmdParameters=config_overrides
	END
	for node in $cluster_nodes; do
		echo "NodeName=${node%=*} NodeAddr=${node#*=} CPUs=4 State=UNKNOWN"
	done
	echo "PartitionName=all Nodes=ALL Default=YES State=UP MaxTime=INFINITE" \
		"OverSubscribe=FORCE:4"
}

start_cluster() {
	mkdir -p "$1/state"
	chmod 700 "$1"
	cluster_first=${cluster_nodes%% *}
	head -c 128 /dev/urandom >"$1/munge.key"
	chmod 400 "$1/munge.key"
	munged --force --foreground --socket "$1/munge.socket" --key-file "$1/munge.key" \
		--pid-file "$1/munge.pid" \
		--seed-file "$1/munge.seed" --log-file "$1/munge.log" >"$1/munge.out" 2>&1 &
	daemons=$!
	export SLURM_CONF="$1/slurm.conf"
	cluster_conf "$1" $((20000 + $$ % 5000 * 2)) >"$SLURM_CONF"
	# Nothing uses it: by itself slurmd looks for a file system that hosts of tests lack.
	echo "CgroupPlugin=cgroup/v1" >"$1/cgroup.conf"
	wait_for 10 test -S "$1/munge.socket" || return 1
	on_node "${cluster_first%=*}" slurmctld -D -c >"$1/slurmctld.out" 2>&1 &
	daemons="$! $daemons"
	for node in $cluster_nodes; do
		on_node "${node%=*}" slurmd -D -N "${node%=*}" >"$1/slurmd.${node%=*}.out" 2>&1 &
		daemons="$! $daemons"
	done
	wait_for 20 idle
}

# needs_slurm: says what is not here, and goes to the test's directory.
skip() { echo "skip: $*"; exit 77; }
needs_slurm() {
	[ "$(id -u)" = 0 ] || skip "not root, whom slurmd needs to be"
	for tool in srun sbatch sinfo slurmctld slurmd munged; do
		command -v $tool >/dev/null || skip "no $tool (packages slurm-wlm, munge)"
	done
	[ -n "${CC_none:-}" ] || skip "no C compiler"
	ldconfig -p | grep -q 'libpmi2\.so\.0' || skip "no libpmi2.so.0 (package libpmi2-0)"
	programs=$BUILD/tests
	mkdir -p "$WORK"
	cd "$WORK" || exit 1
}

must_start() {
	start_cluster "$1" || {
		tail -n 5 "$1"/*.log "$1"/*.out
		skip "no cluster could be started here: see above"
	}
}

# idle: all nodes are.
idle() {
	[ "$( (on_node "${cluster_first%=*}" sinfo -h -N -o %T) 2>/dev/null | grep -c idle)" \
		-eq "$(echo "$cluster_nodes" | wc -w)" ]
}

wait_for() {
	tries=$(($1 * 10))
	shift
	while ! "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.1
	done
}

stop_cluster() {
	for pid in $daemons; do
		kill "$pid" 2>/dev/null
	done
	for pid in $daemons; do
		wait "$pid" 2>/dev/null
	done
	daemons=""
}
