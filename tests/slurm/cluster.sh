# SPDX-License-Identifier: BSD-3-Clause
# A Slurm of this machine alone, in a directory of its own: munged, slurmctld, slurmd. Sourced; say skip REASON first.
#   start_cluster DIR   # afterwards srun and sbatch work, by SLURM_CONF
#   stop_cluster        # at the end, whatever happens

# A name of this machine that leads to loopback.
cluster_host=localhost
daemons=""

cluster_conf() {
	cat <<-END
		ClusterName=armci
		SlurmctldHost=$cluster_host(127.0.0.1)
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$1/munge.socket
		CredType=cred/munge
		SlurmctldPort=$2
		SlurmdPort=$(($2 + 1))
		SlurmctldPidFile=$1/slurmctld.pid
		SlurmdPidFile=$1/slurmd.pid
		SlurmctldLogFile=$1/slurmctld.log
		SlurmdLogFile=$1/slurmd.log
		StateSaveLocation=$1/state
		SlurmdSpoolDir=$1/spool
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
		NodeName=$cluster_host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
		PartitionName=all Nodes=$cluster_host Default=YES State=UP MaxTime=INFINITE OverSubscribe=FORCE:4
	END
}

start_cluster() {
	mkdir -p "$1/state" "$1/spool"
	chmod 700 "$1"
	head -c 128 /dev/urandom >"$1/munge.key"
	chmod 400 "$1/munge.key"
	munged --force --foreground --socket "$1/munge.socket" --key-file "$1/munge.key" --pid-file "$1/munge.pid" \
		--seed-file "$1/munge.seed" --log-file "$1/munge.log" >"$1/munge.out" 2>&1 &
	daemons=$!
	export SLURM_CONF="$1/slurm.conf"
	cluster_conf "$1" $((20000 + $$ % 5000 * 2)) >"$SLURM_CONF"
	wait_for 10 test -S "$1/munge.socket" || return 1
	slurmctld -D -c >"$1/slurmctld.out" 2>&1 &
	daemons="$! $daemons"
	slurmd -D -N "$cluster_host" >"$1/slurmd.out" 2>&1 &
	daemons="$! $daemons"
	wait_for 20 idle
}

idle() { sinfo -h -o %T 2>/dev/null | grep -q idle; }

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
