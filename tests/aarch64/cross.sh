#!/bin/sh
# What the tests under qemu-user share; read by them: the library for another processor, C programs
# with it, and their runs. Input: processor (CMake's name), cross (what the compilers' names begin
# with), emulator; and the environment of a suite.
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154

for tool in "$cross-gcc" "$emulator"; do
	command -v "$tool" >/dev/null || { echo "SKIP: no $tool"; exit 77; }
done
echo 'int main(void){return 0;}' | "$cross-gcc" -x c -o /dev/null - 2>/dev/null || {
	echo "SKIP: $cross-gcc has no C library"
	exit 77
}
mkdir -p "$WORK"
"$CMAKE" -S "$SOURCE" -B "$WORK/build" --toolchain "$SOURCE/cmake/toolchains/$processor.cmake" \
	-DARMCI_GO="$GO" \
	-DARMCI_MPI_ABI=OFF -DARMCI_BUILD_TESTS=OFF -DARMCI_WERROR=ON >"$WORK/configure.log"
"$CMAKE" --build "$WORK/build" --target armci_classic >"$WORK/build.log" 2>&1 || {
	cat "$WORK/build.log"
	exit 1
}
lib=$WORK/build/lib
bad=0

# emulate NAME [OPTION OF THE EMULATOR...]: makes a command that runs a program of that processor
emulate() {
	name=$1
	shift
	printf '#!/bin/sh\nexec %s %s -L /usr/%s "$@"\n' "$emulator" "$*" "$cross" >"$WORK/$name"
	chmod +x "$WORK/$name"
}
emulate run
run=$WORK/run

# one NAME RANKS [OPTION OF ARMCIRUN...]: a program's run says "ok NAME"
one() {
	name=$1 ranks=$2
	shift 2
	if ARMCI_SHM_ARENA=4g timeout 60 "$BUILD/bin/armcirun" -n "$ranks" "$@" \
		"$run" "$WORK/$name" \
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
	$cross-gcc -std=gnu11 -O2 -I"$SOURCE/include" -I"$SOURCE/tests/c" -o "$WORK/$1" "$2" \
		-L"$lib" -Wl,-rpath,"$lib" -larmci -lm -lpthread
}
