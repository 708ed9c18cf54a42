#!/bin/sh
# Another processor: cross-compiles the library for aarch64 and runs C programs under qemu-user, on one node and on two
# pretended ones over TCP, kills, and the node's litmus tests. ppc64le and riscv64: their C is compiled.
# It must not need more than Debian's cross-compilers and qemu-user, and is skipped without them.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cross=aarch64-linux-gnu
programs=${AARCH64_PROGRAMS:-"contiguous strided vector accumulate rmw mutex group notify order message fence nonblocking flags
	accumulate_contention concurrent model"}
for tool in $cross-gcc qemu-aarch64; do
	command -v $tool >/dev/null || { echo "SKIP: no $tool"; exit 77; }
done
mkdir -p "$WORK"
"$CMAKE" -S "$SOURCE" -B "$WORK/build" --toolchain "$SOURCE/cmake/toolchains/aarch64.cmake" -DARMCI_GO="$GO" \
	-DARMCI_MPI_ABI=OFF -DARMCI_BUILD_TESTS=OFF -DARMCI_WERROR=ON >"$WORK/configure.log"
"$CMAKE" --build "$WORK/build" --target armci_classic >"$WORK/build.log" 2>&1 || { cat "$WORK/build.log"; exit 1; }
lib=$WORK/build/lib
bad=0

printf '#!/bin/sh\nexec qemu-aarch64 -L /usr/%s "$@"\n' $cross >"$WORK/run"
chmod +x "$WORK/run"
sh "$SOURCE/tests/litmus.sh" $cross-gcc "$SOURCE/internal" "$WORK/litmus" "$WORK/run"

# one NAME RANKS [OPTION OF ARMCIRUN...]: a program's run says "ok NAME"
one() {
	name=$1 ranks=$2
	shift 2
	if ARMCI_SHM_ARENA=4g timeout 60 "$BUILD/bin/armcirun" -n "$ranks" "$@" "$WORK/run" "$WORK/$name" \
		>"$WORK/$name.log" 2>&1 && grep -q "^ok $name" "$WORK/$name.log"; then
		echo "ok $name, $ranks ranks $*"
	else
		echo "FAILED $name, $ranks ranks $*"
		cat "$WORK/$name.log"
		bad=1
	fi
}

# compile PROGRAM SOURCE
compile() {
	$cross-gcc -std=gnu11 -O2 -I"$SOURCE/include" -I"$SOURCE/tests/c" -o "$WORK/$1" "$2" -L"$lib" -Wl,-rpath,"$lib" -larmci -lm -lpthread
}

# killed [OPTION OF ARMCIRUN...]: rank 1 of 4 dies while all want a lock; another says so, and all end.
killed() {
	rm -rf "$WORK/pids"
	mkdir "$WORK/pids"
	ARMCI_SHM_ARENA=4g timeout 60 "$BUILD/bin/armcirun" -n 4 "$@" "$WORK/run" "$WORK/victim" "$WORK/pids" lock 1 >"$WORK/killed.log" 2>&1 &
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

for other in powerpc64le riscv64; do
	command -v $other-linux-gnu-gcc >/dev/null || { echo "no $other-linux-gnu-gcc: not compiled"; continue; }
	for f in "$SOURCE"/internal/kernel/*.c; do
		$other-linux-gnu-gcc -std=c11 -O2 -Wall -Wextra -Werror -c -o "$WORK/other.o" "$f" || bad=1
	done
	sh "$SOURCE/tests/litmus.sh" $other-linux-gnu-gcc "$SOURCE/internal" "$WORK/litmus.$other" true || bad=1
	echo "compiled for $other"
done
exit $bad
