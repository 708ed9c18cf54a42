#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# networks.sh - kinds of networks between two hosts, with armcirun: IPv6 alone; a router between the
# hosts; a second interface of the same address on both that leads nowhere, as container bridges
# are; two networks between them, one of them chosen by name and by CIDR; a range of ports; hosts
# that are reached by a real ssh. Programs must end well, and no process may listen where it should
# not.
#
#   BUILD=... RUN_none="... -n 2" sh networks.sh
#   NETWORKS_PARTS="ipv6 routed bridges two ports ssh" chooses
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/launch.sh"
prefix=armcin
a=${prefix}a b=${prefix}b
dir=${WORK:-$BUILD/tests/hosts/networks}
failures=0
mkdir -p "$dir" && cd "$dir" || exit 1

"$here/hosts.sh" down $prefix
trap '"$here/hosts.sh" down $prefix' EXIT
trap 'exit 1' HUP INT TERM

fail() {
	echo "FAIL $case: $1"
	sed 's/^/    | /' "$dir/log" | tail -n 15
	failures=$((failures + 1))
}

# again N: two fresh hosts, or three with a bridge between them (N as for hosts.sh).
again() {
	"$here/hosts.sh" down $prefix
	"$here/hosts.sh" up $prefix "$1" || exit
}

# addresses A B: of the hosts on eth0 from now on, with the lengths of the networks, instead of
# those they have.
addresses() {
	for host in $a $b; do
		printf '127.0.0.1 localhost\n%s %s\n%s %s\n' "${1%/*}" $a "${2%/*}" $b \
			>/etc/netns/$host/hosts
		ip -n $host addr flush dev eth0
	done
	ip -n $a addr add "$1" dev eth0
	ip -n $b addr add "$2" dev eth0
}

# programs CASE OPTION...: of 2 ranks on each host.
programs() {
	case=$1
	shift
	for name in contiguous message gop mutex; do
		# shellcheck disable=SC2086 # words
		timeout -k 10 60 "$here/inside.sh" $a ${RUN_none% *} 4 -hosts $a,$b -ppn 2 \
			-agent "${agent:-$here/agent.sh}" \
			"$@" "$BUILD/tests/c/none/$name" >"$dir/log" 2>&1 </dev/null
		status=$?
		[ $status -eq 0 ] || { fail "$name: exit $status"; return; }
	done
	echo "done $case"
}

part_ipv6() {
	again 2
	for host in $a $b; do
		ip netns exec $host sh -c 'echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad'
	done
	addresses fd77::1/64 fd77::2/64
	programs "IPv6 alone"
}

# The third host is the router.
part_routed() {
	again 3
	addresses 10.78.1.2/24 10.78.2.2/24
	ip -n $a route add default via 10.78.1.1
	ip -n $b route add default via 10.78.2.1
	ip -n ${prefix}c addr add 10.78.1.1/24 dev eth0
	ip -n ${prefix}c addr add 10.78.2.1/24 dev eth0
	ip netns exec ${prefix}c sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' 2>/dev/null
	programs "a router between the hosts"
}

part_bridges() {
	again 2
	for host in $a $b; do
		ip -n $host link add bridge0 type bridge
		ip -n $host addr add 172.17.0.1/16 dev bridge0
		ip -n $host link set bridge0 up
	done
	programs "a bridge of the same address on both hosts"
}

# second: another network between the hosts.
second() {
	again 2
	ip link add eth1 netns $a type veth peer name eth1 netns $b
	i=0
	for host in $a $b; do
		i=$((i + 1))
		ip -n $host addr add 10.79.0.$i/24 dev eth1
		ip -n $host link set eth1 up
	done
}

part_two() {
	second
	for where in eth1 10.79.0.0/16; do
		export ARMCI_TCP_INTERFACE=$where
		watched "two networks, $where chosen" -interface $where
		unset ARMCI_TCP_INTERFACE
		listeners 10.79.0.2 '[0-9]*'
	done
}

part_ports() {
	again 2
	export ARMCI_TCP_PORTS=7100-7103
	watched "ports 7100 to 7103" -ports 7104-7105
	unset ARMCI_TCP_PORTS
	listeners 10.77.0.2 '710[0-3]'
}

# watched CASE OPTION...: programs, and the listeners on host b meanwhile.
watched() {
	rm -f "$dir/stop"
	while [ ! -e "$dir/stop" ]; do
		ip netns exec $b ss -H -l -t -n
		sleep 0.02
	done >"$dir/seen" &
	watcher=$!
	programs "$@"
	touch "$dir/stop"
	wait $watcher
	awk '{ print $4 }' "$dir/seen" | sort -u >"$dir/listeners"
}

# listeners ADDRESS PORTS: there were some, all of them there.
listeners() {
	grep -q . "$dir/listeners" || fail "nobody listened"
	grep -v -x "$1:$2" "$dir/listeners" >"$dir/log" &&
		fail "somebody listens elsewhere than at $1:$2"
}

# A server for secure shells on each host with keys of its own, and a home of its own for the user,
# so that no other's are touched.
part_ssh() {
	for tool in dropbear dropbearkey ssh ssh-keygen; do
		command -v $tool >/dev/null || {
			echo "skip ssh: no $tool (packages dropbear-bin, openssh-client)"
			return
		}
	done
	again 2
	keys=$dir/ssh
	rm -rf "$keys" && mkdir -p -m 700 "$keys/.ssh" || exit 1
	ssh-keygen -q -t ed25519 -N '' -f "$keys/user"
	cp "$keys/user.pub" "$keys/.ssh/authorized_keys"
	dropbearkey -t ed25519 -f "$keys/host" >/dev/null 2>&1
	awk -F : -v OFS=: -v home="$keys" '$3 == 0 { $6 = home } { print }' /etc/passwd \
		>"$keys/passwd"
	for host in $a $b; do
		"$here/inside.sh" $host sh -c \
			"mount --bind $keys/passwd /etc/passwd &&
			exec dropbear -F -E -r $keys/host -P $keys/pid.$host" \
			2>"$keys/log.$host" &
	done
	agent="ssh -i $keys/user -o BatchMode=yes -o StrictHostKeyChecking=no"
	agent="$agent -o UserKnownHostsFile=$keys/known"
	programs "ssh"
	agent=
	grep -q "Pubkey auth succeeded" "$keys/log.$b" || fail "the server of host b was not asked"
	"$here/hosts.sh" down $prefix # ends the servers
	wait
	rm -rf "$keys"
}

for part in ${NETWORKS_PARTS:-ipv6 routed bridges two ports ssh}; do
	"part_$part"
done
echo "$failures failures"
[ $failures -eq 0 ]
