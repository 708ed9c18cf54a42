#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# kernel.sh DIRECTORY - puts what vm.sh boots into DIRECTORY: Debian's stock kernel (vmlinux), the
# guest's first file system (initramfs) and tsc. The kernel's package is fetched from where the
# machine has its packages from and unpacked, never installed. Does nothing when all is there. Exit
# status 77: not here, with the reason.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$1

# Those that init.sh loads; the cloud kernel lacks the last and 9p.
modules="virtio_pci 9pnet_virtio 9p overlay virtio_console qemu_fw_cfg crc32_generic veth bridge
	ib_uverbs rdma_rxe rdma_ucm"

skip() {
	echo "skip: $*"
	exit 77
}

# number FILE OFFSET SIZE: an unsigned number of the header.
number() { od -An -t"u$3" -j "$2" -N "$3" "$1" | tr -d ' '; }

# vmlinux FILE: the kernel inside, by the fields setup_sects, payload_offset and payload_length of
# the x86 boot protocol. An emulated processor would take 15 s to unpack it. The last four bytes are
# its size.
vmlinux() {
	offset=$((($(number "$1" 497 1) + 1) * 512 + $(number "$1" 584 4)))
	tail -c +$((offset + 1)) "$1" | head -c $(($(number "$1" 588 4) - 4)) | xz -dc
}

fetch() {
	package=$(apt-cache depends linux-image-amd64 2>/dev/null |
		sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	[ -n "$package" ] || skip "apt knows no kernel (package linux-image-amd64; apt-get update?)"
	echo "vm: fetching $package" >&2
	rm -rf "$dir/package" "$dir/initramfs" && mkdir "$dir/package" && cd "$dir/package"
	apt-get -q download "$package" >log 2>&1 || skip "cannot fetch $package: $(tail -n 1 log)"
	dpkg -x ./*.deb .
	version=$(basename lib/modules/*)
	busybox depmod -b . "$version"
	vmlinux "boot/vmlinuz-$version" >../vmlinux
	rm -rf ../modules
	needed "lib/modules/$version" "../modules/lib/modules/$version"
	cd .. && rm -rf package
	echo "$version" >version
}

# needed FROM TO: copies the modules and those that they need.
needed() {
	for module in $modules; do
		grep "/$module\.ko:" "$1/modules.dep" >>wanted | tr ' ' '\n' ||
			skip "the kernel has no $module"
	done
	mkdir -p "$2"
	tr -d : <wanted | tr " " "\n" | sort -u | while read -r file; do
		mkdir -p "$2/$(dirname "$file")"
		cp "$1/$file" "$2/$file"
		grep "^$file:" "$1/modules.dep" >>"$2/modules.dep"
	done
}

initramfs() {
	rm -rf "$dir/first" && mkdir "$dir/first" && cd "$dir/first"
	mkdir bin proc sys dev lower upper root
	cp -r "$dir/modules/lib" .
	cp "$(command -v busybox)" bin
	cp "$here/init.sh" init
	chmod 755 init
	find . | busybox cpio -o -H newc >"$dir/initramfs.new" 2>/dev/null
	cd "$dir" && rm -rf first
	mv initramfs.new initramfs
}

[ "$(uname -m)" = x86_64 ] || skip "the machine is no x86-64"
for tool in qemu-system-x86_64:qemu-system-x86 busybox:busybox-static apt-get:apt dpkg:dpkg \
	xz:xz-utils cc:gcc; do
	command -v "${tool%:*}" >/dev/null || skip "no ${tool%:*} (package ${tool#*:})"
done
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
exec 9>"$dir/lock"
flock 9
[ "$dir/version" -nt "$here/kernel.sh" ] || fetch
[ "$dir/initramfs" -nt "$here/init.sh" ] || initramfs
[ "$dir/tsc" -nt "$here/tsc.c" ] || cc -O2 -o "$dir/tsc" "$here/tsc.c"
