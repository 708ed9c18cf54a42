#!/bin/sh
# Compiles the C kernels with their stand-alone test under the address and undefined-behaviour
# sanitizers, then under the thread sanitizer, and runs both: sanitize.sh CC KERNEL_DIR OUTPUT. It
# must not leave out a kernel file, so it takes every .c of the directory; the two runs must agree
# on the hash of their floating-point results.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cc=$1 kernel=$2 output=$3
mkdir -p "$(dirname "$output")"

# under NAME FLAGS: the test's output goes to OUTPUT.NAME.log
under() {
	flags="-std=c11 -g -O1 -fno-omit-frame-pointer $2"
	# shellcheck disable=SC2086
	if ! echo 'int main(void){return 0;}' | "$cc" $flags -x c -o "$output.$1" - \
		2>/dev/null; then
		echo "SKIP: $cc has no $1 sanitizer here"
		exit 77
	fi
	# shellcheck disable=SC2086
	"$cc" $flags -Wall -Wextra -Werror -I"$kernel" -o "$output.$1" \
		"$kernel"/testdata/sanitize.c "$kernel"/*.c -lm -lpthread
	"$output.$1" >"$output.$1.log"
	cat "$output.$1.log"
	grep -q '^ok sanitize' "$output.$1.log"
}

under address "-fsanitize=address,undefined -fno-sanitize-recover=all"
under thread "-fsanitize=thread"
cmp "$output.address.log" "$output.thread.log"
