#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hosts.sh up PREFIX N | cut HOST | pids HOST | down PREFIX - hosts of a network of their own on
# this machine: network namespaces PREFIXa, PREFIXb, ... with addresses 10.77.0.1, .2, ..., joined
# by a veth pair (two) or a bridge in a namespace PREFIXsw (more). cut takes one off the network,
# pids are the processes on one. With HOSTS_RXE=1, in the virtual machine, they have verbs devices
# too.
#
# Nothing outside them changes but /etc/netns/<namespace>/hosts, which `ip netns exec` shows as
# /etc/hosts, so that the hosts know each other by name. down removes all of it, and first ends
# whatever runs inside. exit status 77: not here.
set -eu
letters="a b c d e f g h i"
network=10.77.0
devices=$(dirname "$0")/../vm/devices.sh

usage() {
	sed -n '3,7s/^# //p' "$0" >&2
	exit 2
}

# names N: of the hosts.
names() {
	for letter in $(echo "$letters" | cut -d' ' -f1-"$1"); do echo "$prefix$letter"; done
}

# possible: says why not.
possible() {
	[ "$(id -u)" = 0 ] || { echo "skip: hosts as network namespaces need root"; return 1; }
	command -v ip >/dev/null || { echo "skip: no ip command (package iproute2)"; return 1; }
	ip netns add "${prefix}sw" 2>/dev/null || {
		echo "skip: no right to make a network namespace"
		return 1
	}
	ip link add "${prefix}probe" netns "${prefix}sw" type veth peer name "${prefix}probf" \
		netns "${prefix}sw" 2>/dev/null ||
		{ echo "skip: no veth devices here"; ip netns del "${prefix}sw"; return 1; }
	ip -n "${prefix}sw" link del "${prefix}probe"
	ip netns exec "${prefix}sw" unshare --uts --ipc --mount true 2>/dev/null ||
		{
			echo "skip: no right to a host name of its own"
			ip netns del "${prefix}sw"
			return 1
		}
}

up() {
	possible || exit 77
	table="127.0.0.1 localhost"
	i=0
	for name in $(names "$1"); do
		i=$((i + 1))
		table="$table
$network.$i $name"
	done
	[ "$1" -eq 2 ] || ip -n "${prefix}sw" link add sw type bridge
	[ "$1" -eq 2 ] || ip -n "${prefix}sw" link set sw up
	i=0
	for name in $(names "$1"); do
		i=$((i + 1))
		ip netns add "$name"
		mkdir -p "/etc/netns/$name"
		echo "$table" >"/etc/netns/$name/hosts"
		ip -n "$name" link set lo up
		if [ "$1" -gt 2 ]; then
			ip link add eth0 netns "$name" type veth peer name "port$i" \
				netns "${prefix}sw"
			ip -n "${prefix}sw" link set "port$i" master sw up
		elif [ $i -eq 2 ]; then
			ip link add eth0 netns "${prefix}a" type veth peer name eth0 \
				netns "${prefix}b"
		fi
	done
	i=0
	for name in $(names "$1"); do
		i=$((i + 1))
		ip -n "$name" addr add "$network.$i/24" dev eth0
		ip -n "$name" link set eth0 up
	done
	for name in $(names "$1"); do running "$name"; done
	[ "${HOSTS_RXE:-0}" = 0 ] || "$devices" up ${prefix}sw $network $(names "$1")
}

# running HOST: waits until its link is up, which takes a second now and then, and more on a busy
# machine: UCX does not see it before.
running() {
	tries=0
	until ip -n "$1" -o link show eth0 | grep -q 'state UP'; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || {
			echo "hosts.sh: the link of $1 does not come up" >&2
			exit 1
		}
		sleep 0.05
	done
}

# cut HOST: its link goes down without a word to the others.
cut_off() {
	ip -n "$1" link set eth0 down
	[ "${HOSTS_RXE:-0}" = 0 ] || ip link set "rxe_$1" down
}

# pids_of HOST: also of those in the first network namespace (inside.sh), by their host name.
pids_of() {
	ip netns pids "$1"
	[ "${HOSTS_FIRST:-0}" != 0 ] || return 0
	for p in /proc/[0-9]*; do
		[ "$(readlink "$p/ns/uts")" != "$(readlink /proc/self/ns/uts)" ] || continue
		[ "$(nsenter --uts -t "${p#/proc/}" hostname 2>/dev/null)" != "$1" ] ||
			echo "${p#/proc/}"
	done
}

down() {
	spaces=$(ip netns list 2>/dev/null | cut -d' ' -f1 | grep -x "$prefix[a-isw]*" || true)
	for space in $spaces; do
		pids=$(pids_of "$space")
		# shellcheck disable=SC2086 # several numbers
		[ -z "$pids" ] || kill -9 $pids 2>/dev/null || true
		ip netns del "$space"
		rm -rf "/etc/netns/$space"
	done
	rmdir /etc/netns 2>/dev/null || true
	[ "${HOSTS_RXE:-0}" = 0 ] || "$devices" down $(names 9)
}

[ $# -ge 2 ] || usage
prefix=$2
case $1-$# in
up-3) up "$3" ;;
cut-2) cut_off "$2" ;;
pids-2) pids_of "$2" ;;
down-2) down ;;
*) usage ;;
esac
