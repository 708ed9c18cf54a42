#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# devices.sh up SWITCH NETWORK HOST... | down HOST... - gives each host of hosts.sh a verbs device,
# rxe_HOST, the only one that it can open. Its GID has the address of the host, NETWORK.1, .2, ...
# For the virtual machine only: it needs Soft-RoCE, and makes interfaces and addresses in the first
# network namespace.
#
# Soft-RoCE of Linux 6.1 sends and receives in that namespace only, wherever a device is used. So
# the interfaces below the devices are there, joined by a bridge in the namespace SWITCH. All their
# addresses are local: packets leave by the interface that the device names, for neighbours that are
# written down.
set -eu

# add I HOST COUNT: the device of the Ith of so many.
add() {
	link=rxe_$2
	ip link add "$link" mtu 4200 address "02:00:00:00:00:0$1" type veth \
		peer name "$link" mtu 4200 netns "$switch"
	ip -n "$switch" link set "$link" master fabric up
	echo 1 >"/proc/sys/net/ipv4/conf/$link/accept_local"
	ip addr add "$network.$1/24" dev "$link"
	ip link set "$link" up
	for j in $(seq "$3"); do
		[ "$j" = "$1" ] || ip neigh replace "$network.$j" lladdr "02:00:00:00:00:0$j" \
			dev "$link" nud permanent
	done
	rdma link add "$link" type rxe netdev "$link"
}

# node HOST: the device's file, and that of the connection manager, in a directory that inside.sh
# shows as /dev/infiniband.
node() {
	mkdir "/dev/infiniband.$1"
	[ ! -e /dev/infiniband/rdma_cm ] || cp -a /dev/infiniband/rdma_cm "/dev/infiniband.$1"
	for device in /sys/class/infiniband_verbs/uverbs*; do
		[ "$(cat "$device/ibdev")" != "rxe_$1" ] ||
			cp -a "/dev/infiniband/${device##*/}" "/dev/infiniband.$1"
	done
}

up() {
	ip -n "$switch" link add fabric type bridge
	ip -n "$switch" link set fabric up
	i=0
	for host; do
		i=$((i + 1))
		add $i "$host" $#
		node "$host"
	done
	for host; do
		tries=0
		until rdma link show "rxe_$host/1" | grep -q 'state ACTIVE'; do
			tries=$((tries + 1))
			[ $tries -lt 100 ] || {
				echo "devices.sh: rxe_$host does not come up" >&2
				exit 1
			}
			sleep 0.05
		done
	done
}

down() {
	for host; do
		[ ! -e "/sys/class/infiniband/rxe_$host" ] || rdma link delete "rxe_$host"
		[ ! -e "/sys/class/net/rxe_$host" ] || ip link del "rxe_$host"
		rm -rf "/dev/infiniband.$host"
	done
}

way=$1
shift
case $way in
up)
	switch=$1 network=$2
	shift 2
	up "$@"
	;;
down) down "$@" ;;
esac
