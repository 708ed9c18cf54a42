#!/bin/sh
# run.sh - tests limited.sh: what it runs keeps its output and status; after the limit it says where
# each process stands, and none is left.
# SPDX-License-Identifier: BSD-3-Clause
set -u
here=$(dirname "$(realpath "$0")")
limited=$here/../limited.sh
mkdir -p "$WORK" && cd "$WORK" || exit 1
rm -f child command
. "$here/../says.sh"

run status 3 sh "$limited" 60 sh -c 'echo output; exit 3'
[ "$(cat out)" = output ] || fail "the output is not the command's"

stay='sleep 61 & echo $! >child; trap "" TERM; sleep 62; sleep 63'
run 'past the limit' 124 sh "$limited" 1 sh -c "$stay"
grep -q '^limited: 1 seconds have passed' out || fail "no word about the limit"
for process in 'sh -c' 'sleep 61' 'sleep 62'; do
	grep -q -e "^--- process [0-9]*: $process" out || fail "nothing about $process"
done
grep -q '^thread [0-9]* sleep: S in ' out || fail "no thread is said to sleep in the kernel"
if command -v gdb >/dev/null; then
	grep -q '^#[0-9]* .*nanosleep' out || fail "no stack"
fi
! kill -0 "$(cat child)" 2>/dev/null || fail "a process is left"

case=SIGALRM
sh "$limited" 60 sh -c 'echo $$ >command; exec sleep 64' >out 2>err &
until [ -s command ]; do sleep 0.1; done
kill -ALRM $!
wait $!
[ $? -eq 124 ] || fail "not the status of a limit"
! kill -0 "$(cat command)" 2>/dev/null || fail "the command still runs"
echo "done $case"

[ $failures -eq 0 ]
