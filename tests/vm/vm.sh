#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vm.sh [OPTION]... COMMAND [ARGUMENT]... - runs a command in a small virtual machine, for its
# kernel, which has Soft-RoCE: on this machine's files (what it writes is gone afterwards), as root,
# with this environment and directory.
#
#   -n HOSTS      make so many hosts first (../hosts/hosts.sh), hosta, hostb ..., each with a verbs
#                 device; run on hosta
#   -w DIRECTORY  what is written there stays
#   -t SECONDS    end the command after that time, with exit status 124 (300)
#   -l KIB        memory that a process may lock, also as root (no limit)
#   -c CPUS       (2)
#   -m MIB        memory (2048)
#
# Its output, standard error with standard output, and its exit status come out. Exit status 77: no
# virtual machine here, with the reason; 125: it has died. Nothing is left of it however it ends.
# Its kernel is kept below BUILD.
set -u
here=$(cd "$(dirname "$0")" && pwd)
hosts=0 keep='' seconds=300 locked=unlimited cpus=2 memory=2048
booting=180 # seconds, on a busy machine

usage() {
	sed -n '3,17s/^# \{0,1\}//p' "$0" >&2
	exit 2
}
skip() {
	echo "skip: $*"
	exit 77
}

while getopts n:w:t:l:c:m: option; do
	case $option in
	n) hosts=$OPTARG ;;
	w) keep=$(cd "$OPTARG" && pwd) || exit 2 ;;
	t) seconds=$OPTARG ;;
	l) locked=$OPTARG ;;
	c) cpus=$OPTARG ;;
	m) memory=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
guest=${BUILD:-$(cd "$here/../.." && pwd)/build}/tests/vm/guest
available=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
[ "$available" -gt $((memory + 256)) ] ||
	skip "a machine of $memory MiB, and $available MiB are available"
"$here/kernel.sh" "$guest" || exit

# nameless FD: makes the descriptor an empty file without a name, of which nothing can stay.
nameless() {
	file=$(mktemp) || exit 125
	eval "exec $1<>\"\$file\""
	rm "$file"
}

quoted() {
	for word; do
		printf "'"
		printf %s "$word" | sed "s/'/'\\\\''/g"
		printf "' "
	done
}

# job: what the guest's shell does.
job() {
	export -p
	echo "cd $(quoted "$PWD")"
	echo "ulimit -n $(ulimit -n)"
	echo "ulimit -l $locked"
	echo "export HOSTS_RXE=1"
	if [ "$hosts" -gt 0 ]; then
		echo "$(quoted "$here/../hosts/hosts.sh") up host $hosts || exit"
		set -- "$here/../hosts/inside.sh" hosta "$@"
	fi
	# A process with that right has no limit.
	[ "$locked" = unlimited ] || set -- setpriv --bounding-set=-ipc_lock "$@"
	echo "exec $(quoted "$@")"
}

# An emulated processor copies byte after byte, at 30 MB/s, when it is told to by "rep movsb", as it
# is by code that sees erms, fsrm or rep_good; and its counter is this machine's, at a rate that it
# would measure wrongly on a busy one.
emulated="clearcpuid=rep_good tsc=reliable no_timer_check rodata=off"

# boot kvm|tcg SECONDS: the guest's output to standard output, its exit status to descriptor 3, all
# else to 4; the job is in 5. Waits, and can be interrupted.
boot() {
	case $1 in
	kvm) set -- "$2" "" -accel kvm -cpu host ;;
	tcg) set -- "$2" "$emulated tsc_early_khz=$("$guest/tsc")" \
		-accel tcg,thread=multi,tb-size=256 -cpu max,la57=off,erms=off,fsrm=off ;;
	esac
	limit=$1 append=$2
	shift 2
	[ -z "$keep" ] || set -- "$@" -fw_cfg "name=opt/vm/keep,string=$(commas "$keep")" \
		-fsdev "local,id=keep,path=$(commas "$keep"),security_model=none" \
		-device virtio-9p-pci,fsdev=keep,mount_tag=keep
	set -- "$@" -fw_cfg "name=opt/vm/guest,string=$(commas "$here/guest.sh")" \
		-fw_cfg "name=opt/vm/seconds,string=$seconds" -fw_cfg name=opt/vm/job,file=/dev/fd/5
	console="console=ttyS0 quiet loglevel=4 panic=-1 oops=panic"
	setpriv --pdeathsig KILL timeout -k 5 "$limit" setpriv --pdeathsig KILL \
		qemu-system-x86_64 -machine pc -smp "$cpus" -m "$memory" -nodefaults \
		-no-user-config -display none -no-reboot \
		-kernel "$guest/vmlinux" -initrd "$guest/initramfs" \
		-append "$console nokaslr mitigations=off cryptomgr.notests $append" \
		-fsdev local,id=root,path=/,security_model=none,multidevs=remap,readonly=on \
		-device virtio-9p-pci,fsdev=root,mount_tag=root -device virtio-serial-pci \
		-chardev file,id=output,path=/dev/fd/1 \
		-device virtserialport,chardev=output,name=output \
		-chardev file,id=status,path=/dev/fd/3 \
		-device virtserialport,chardev=status,name=status \
		-chardev file,id=console,path=/dev/fd/4,append=on -serial chardev:console "$@" \
		</dev/null 2>>/dev/fd/4 |
		cat &
	machine=$(jobs -p)
	wait # for both
	machine=''
}

# commas TEXT: as a value of an option of qemu's.
commas() { printf %s "$1" | sed 's/,/,,/g'; }

# kvm: whether it works here: some have the device, but cannot boot a stock kernel. Tried once, the
# verdict is kept.
kvm() {
	[ -w /dev/kvm ] || return 1
	key="$(cat /proc/sys/kernel/random/boot_id) $(cat "$guest/version")"
	if ! grep -s -q "^$key" "$guest/kvm"; then
		echo "exit 0" >&5
		ulimit -c 0 # it may abort
		boot kvm 20 >&4 2>/dev/null
		echo "$key status $(cat /dev/fd/3)" >"$guest/kvm"
	fi
	grep -q "status 0$" "$guest/kvm"
}

machine=''
trap '[ -z "$machine" ] || { kill $machine 2>/dev/null; wait; }' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
for fd in 3 4 5; do nameless $fd; done
accelerator=tcg
! kvm || accelerator=kvm
for fd in 3 4 5; do nameless $fd; done
job "$@" >&5
boot $accelerator $((seconds + booting))
status=$(cat /dev/fd/3)
[ -n "$status" ] || {
	echo "vm: the guest ($accelerator) has died, or took $booting s more than it had;" \
		"it said last:" >&2
	tail -n 30 /dev/fd/4 >&2
	exit 125
}
[ "$status" -ne 124 ] || echo "vm: the command took more than $seconds s" >&2
exit "$status"
