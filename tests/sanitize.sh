#!/bin/sh
# Compiles the C kernels with their stand-alone test under the address and undefined-behaviour sanitizers and runs it:
# sanitize.sh CC KERNEL_DIR OUTPUT. It must not leave out a kernel file, so it takes every .c of the directory.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cc=$1 kernel=$2 output=$3

mkdir -p "$(dirname "$output")"
flags="-std=gnu11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
# shellcheck disable=SC2086
if ! echo 'int main(void){return 0;}' | "$cc" $flags -x c -o "$output.probe" - 2>/dev/null; then
	echo "SKIP: $cc has no sanitizer runtime here"
	exit 77
fi
# shellcheck disable=SC2086
"$cc" $flags -Wall -Wextra -Werror -I"$kernel" -o "$output" "$kernel"/*.c "$kernel"/testdata/sanitize.c -lm -lpthread
exec "$output"
