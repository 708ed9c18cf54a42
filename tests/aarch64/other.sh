#!/bin/sh
# ppc64le and riscv64, which are rare: cross-compiles the library and runs a few C programs
# under qemu-user, on one node and on two pretended ones; the litmus tests are compiled. riscv64
# also with the 38 bits of address that its smallest kernels have.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
processor=$PROCESSOR
case $processor in
ppc64le) cross=powerpc64le-linux-gnu emulator=qemu-ppc64le ;;
riscv64) cross=riscv64-linux-gnu emulator=qemu-riscv64 ;;
esac
. "$SOURCE/tests/aarch64/cross.sh"

sh "$SOURCE/tests/litmus/threads.sh" $cross-gcc "$SOURCE/internal" "$WORK/litmus" "$run"
for p in strided accumulate mutex; do
	compile "$p" "$SOURCE/tests/c/$p.c"
	one "$p" 2
done
one strided 4 -nodes 2
if [ "$processor" = riscv64 ]; then
	emulate run38 -R 0x4000000000
	run=$WORK/run38
	one strided 2
fi
exit $bad
