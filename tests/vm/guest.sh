#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# guest.sh - process 1 of the guest, on the machine's file system: sets up what a running system
# has, runs the job that vm.sh has handed over, tells its exit status and switches the guest off. It
# must not know what the job does.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
handed=/sys/firmware/qemu_fw_cfg/by_name/opt/vm

# port NAME: its device.
port() {
	for p in /sys/class/virtio-ports/*; do
		[ "$(cat "$p/name")" != "$1" ] || echo "/dev/${p##*/}"
	done
}

system() {
	mkdir -p /dev/pts /dev/shm /dev/mqueue
	mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
	mount -t tmpfs -o mode=1777 tmpfs /dev/shm
	mount -t mqueue mqueue /dev/mqueue
	mount -t tmpfs -o mode=755 tmpfs /run
	ln -sfn /proc/self/fd /dev/fd
	ln -sfn /proc/self/fd/0 /dev/stdin
	ln -sfn /proc/self/fd/1 /dev/stdout
	ln -sfn /proc/self/fd/2 /dev/stderr
	hostname vm
	ip link set lo up
	# A long RDMA read arrives at once: what does not fit in this queue, of packets, is sent
	# again a second later.
	echo 100000 >/proc/sys/net/core/netdev_max_backlog
	# rxe works in softirqs. While all processors are busy with processes that poll, it would
	# wait for a time slice.
	for p in $(grep -l ksoftirqd /proc/[0-9]*/comm); do
		chrt -f -p 1 "$(echo "$p" | cut -d/ -f3)"
	done
}

# keep: the directory whose files are to stay.
keep() {
	[ -e "$handed/keep" ] || return 0
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=mmap keep \
		"$(cat "$handed/keep/raw")"
}

# run: all output goes through one pipe, so that any process can open /dev/stdout. What still runs
# in the end is killed, or cat would wait for it.
run() {
	mkfifo /run/output
	cat /run/output >"$(port output)" &
	cat=$!
	exec 3>/run/output
	timeout -k 5 "$(cat "$handed/seconds/raw")" setsid sh "$handed/job/raw" \
		</dev/null >&3 2>&3 3>&-
	status=$?
	exec 3>&-
	for p in /proc/[0-9]*; do
		[ "$p" = /proc/1 ] || [ "$p" = /proc/$cat ] || kill -9 "${p#/proc/}"
	done 2>/dev/null
	wait $cat
	echo $status >"$(port status)"
}

exec </dev/null >/dev/console 2>&1
system && keep && run
busybox reboot -f
