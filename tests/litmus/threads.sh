#!/bin/sh
# Compiles the node's C code with its litmus tests, and the coarrays' table of accessors with its
# own, plainly and under the thread sanitizer, and runs both: threads.sh CC INTERNAL OUTPUT
# [RUN...]. With RUN, an emulator of another processor, only the plain one: the sanitizer does not
# run there.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cc=$1 internal=$2 output=$3
shift 3
root=$(dirname "$internal")
mkdir -p "$(dirname "$output")"
shm="lock rwlock wait receive team event layout notify"

# under NAME FLAGS: compiles with them.
under() {
	files=""
	for f in $shm; do files="$files $internal/shm/$f.c"; done
	for f in policy look sleep cpu; do files="$files $internal/wait/$f.c"; done
	# shellcheck disable=SC2086
	"$cc" -std=gnu11 -g -O2 $2 -Wall -Wextra -Werror -Wno-tsan -o "$output.$1" \
		"$internal/shm/testdata/litmus.c" \
		$files "$internal/shm/message.c" "$internal/shm/send.c" "$internal/kernel/wait.c" \
		-lpthread
	# shellcheck disable=SC2086
	"$cc" -std=gnu11 -g -O2 $2 -Wall -Wextra -Werror -I"$root/include" -I"$root/caf" \
		-o "$output.accessors.$1" "$root/tests/litmus/accessors.c" \
		"$root/caf/accessor.c" -lpthread
}

under plain ""
"$@" "$output.plain"
"$@" "$output.accessors.plain"
[ $# = 0 ] || exit 0
if ! echo 'int main(void){return 0;}' | "$cc" -fsanitize=thread -x c -o "$output.thread" - \
	2>/dev/null; then
	echo "SKIP: $cc has no thread sanitizer here"
	exit 77
fi
under thread "-fsanitize=thread"
"$output.thread"
"$output.accessors.thread"
