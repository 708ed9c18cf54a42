# SPDX-License-Identifier: BSD-3-Clause
# launch.sh - how a program is started on several nodes, pretended or real, under each launcher.
# Sourced, never run; it starts nothing itself. HOSTS_MAP=cyclic deals ranks out to pretended nodes
# in turn. Needs here, BUILD and RUN_<flavour>, which ends in "-n 2".

prefix=armcih # of the hosts' names

# launch_on MODE FLAVOUR NODES PER: sets launch, the words before the program, and ranks.
launch_on() {
	ranks=$(($3 * $4))
	eval "run=\${RUN_$2% *}"
	case $1-$2 in
	nodes-none) launch="$run $ranks -nodes $3 -map ${HOSTS_MAP:-block}" ;;
	nodes-*) launch="$run $ranks $here/pretend.sh $3 $ranks" ;;
	hosts-*) launch="$here/inside.sh ${prefix}a $(hosts_"$2" "$4" "$(hosts_list "$3")")" ;;
	esac
}

# hosts_list N: the first hosts, with commas.
hosts_list() {
	echo a b c d e f g h i | cut -d' ' -f1-"$1" | sed "s/[a-i]/$prefix&/g; s/ /,/g"
}

# hosts_FLAVOUR PER LIST: the words that start PER ranks on each host of the list.
hosts_none() {
	echo "$run $ranks -hosts $2 -ppn $1 -agent $here/agent.sh"
}

# All hosts are this machine: binding by the launchers would put one rank of each on the same core.
# Daemons with sessions of their own would make each host a scheduling group, so that a rank that
# yields does not give its core to a rank of another host.
hosts_openmpi() {
	echo "$run $ranks --host $(echo "$2" | sed "s/,\|$/:$1&/g") --map-by slot --bind-to none" \
		"--leave-session-attached" \
		"--mca plm rsh --mca plm_rsh_agent $here/agent.sh --mca plm_rsh_no_tree_spawn 1" \
		"--mca oob_tcp_if_include 10.77.0.0/24 --mca btl_tcp_if_include 10.77.0.0/24" \
		"--mca pml ob1 --mca btl self,vader,tcp --mca mpi_yield_when_idle 1"
}

# UCX would take the hosts for one, by the machine's identity, and try shared memory.
hosts_mpich() {
	echo "env UCX_TLS=tcp,self $run $ranks -launcher rsh -launcher-exec $here/agent.sh" \
		"-hosts $2 -ppn $1 -iface eth0"
}
