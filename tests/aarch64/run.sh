#!/bin/sh
# Another processor: cross-compiles the library for aarch64 and runs C programs under qemu-user, on
# one node and on two pretended ones over TCP, kills, and the node's litmus tests. other.sh is for
# other processors.
# It must not need more than Debian's cross-compilers and qemu-user, and is skipped without them.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
processor=aarch64 cross=aarch64-linux-gnu emulator=qemu-aarch64
programs=${AARCH64_PROGRAMS:-"contiguous strided accumulate rmw mutex notify order message fence
	flags accumulate_contention concurrent model"}
. "$SOURCE/tests/aarch64/cross.sh"
sh "$SOURCE/tests/litmus/threads.sh" $cross-gcc "$SOURCE/internal" "$WORK/litmus" "$run"

# killed [OPTION OF ARMCIRUN...]: rank 1 of 4 dies while all want a lock; another says so, and all
# end.
killed() {
	rm -rf "$WORK/pids"
	mkdir "$WORK/pids"
	ARMCI_SHM_ARENA=4g timeout 60 "$BUILD/bin/armcirun" -n 4 "$@" "$run" "$WORK/victim" \
		"$WORK/pids" lock 1 >"$WORK/killed.log" 2>&1 &
	job=$!
	tries=0
	until [ "$(ls "$WORK/pids" | wc -l)" -eq 4 ] || [ $tries -eq 200 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	kill -9 "$(cat "$WORK/pids/1")"
	status=0
	wait $job || status=$?
	if [ $status -eq 137 ] && grep -q '] rank 1 (pid .*) has died' "$WORK/killed.log"; then
		echo "ok killed, 4 ranks $*"
	else
		echo "FAILED killed, 4 ranks $*: status $status"
		cat "$WORK/killed.log"
		bad=1
	fi
}

export MODEL_SECONDS=1
for p in $programs; do
	compile "$p" "$SOURCE/tests/c/$p.c"
	one "$p" 2
done
for p in strided rmw mutex notify accumulate_contention concurrent model; do
	case " "$(echo $programs)" " in *" $p "*) ;; *) continue ;; esac
	one "$p" 4
	one "$p" 4 -nodes 2
done
compile victim "$SOURCE/tests/fault/victim.c"
killed
killed -nodes 2
exit $bad
