#!/bin/busybox sh
# SPDX-License-Identifier: BSD-3-Clause
# init.sh - the guest's first program, alone in a small file system: loads drivers, mounts the
# machine's file system read-only with one in memory over it, and goes on there with guest.sh. It
# must not do what guest.sh can do.
busybox=/bin/busybox
$busybox mount -t proc proc /proc
$busybox mount -t sysfs sysfs /sys
$busybox mount -t devtmpfs dev /dev

fail() {
	echo "vm: $*" >/dev/console
	$busybox reboot -f
}
load() {
	for module; do $busybox modprobe "$module" || fail "cannot load $module"; done
}

load virtio_pci 9pnet_virtio 9p overlay virtio_console qemu_fw_cfg
$busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,ro,cache=loose root /lower ||
	fail "cannot mount the machine's file system"
$busybox mount -t tmpfs -o mode=755 tmpfs /upper
$busybox mkdir /upper/data /upper/work
$busybox mount -t overlay -o lowerdir=/lower,upperdir=/upper/data,workdir=/upper/work root /root ||
	fail "cannot mount a file system in memory over it"
load crc32_generic veth bridge ib_uverbs rdma_rxe rdma_ucm # emulated, crc32-pclmul would be slower

for directory in proc sys dev; do $busybox mount --move /$directory /root/$directory; done
guest=$($busybox cat /root/sys/firmware/qemu_fw_cfg/by_name/opt/vm/guest/raw)
exec $busybox switch_root /root /bin/sh "$guest"
fail "cannot go on in the machine's file system"
