#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# frame.sh - what vm.sh promises: output, in order, and exit status come out; arguments and
# variables go in as they are; only what is written to the directory of -w stays; a command that
# takes too long is ended; nothing is left when vm.sh is killed.
#
#   BUILD=... sh frame.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=${WORK:-$BUILD/tests/vm/frame}
rm -rf "$dir"
mkdir -p "$dir" && cd "$dir" || exit 1
failed=0
fail() {
	echo "FAIL $*"
	failed=1
}

export FRAME="it's \"one\"
  value"
"$here/vm.sh" -w "$dir" sh -c 'echo out; echo error >&2; echo more
	echo "$FRAME" >/dev/stdout; printf "%s|" "$@"
	pwd; echo kept >kept; echo lost >../lost; ls ../lost; sleep 1000 & exit 3' \
	sh 'a  b' "c'd" '*' '' >out 2>err
status=$?
if [ $status -eq 77 ]; then
	cat out
	exit 77
fi
cat err
[ $status -eq 3 ] || fail "exit status $status, not 3"
printf "out\nerror\nmore\n%s\na  b|c'd|*||%s\n../lost\n" "$FRAME" "$dir" >want
cmp out want || { fail "other output:"; cat out; }
[ "$(cat kept)" = kept ] || fail "a file in the directory of -w is lost"
[ ! -e ../lost ] || fail "a file outside of it has stayed"

"$here/vm.sh" -t 1 sleep 1000 2>err
status=$?
[ $status -eq 124 ] || fail "exit status $status after the time is over, not 124"
grep -q 'more than 1 s' err || fail "no line says that the time is over"

# left: whether a guest of that time limit lives.
left() { # grep does not find itself
	grep -l "opt/vm/seconds[,]string=$limit" /proc/[0-9]*/cmdline 2>/dev/null | grep -q .
}
for signal in TERM KILL; do
	limit=$((100000 + $$))
	: >out # of the signal before
	"$here/vm.sh" -t $limit sh -c 'echo begun; sleep 1000' >out 2>&1 &
	vm=$!
	tries=0
	until grep -q begun out || [ $tries -ge 900 ]; do
		sleep 0.2
		tries=$((tries + 1))
	done
	left || fail "cannot see the guest"
	kill -$signal $vm
	wait $vm 2>/dev/null
	tries=0
	while left && [ $tries -lt 50 ]; do
		sleep 0.2
		tries=$((tries + 1))
	done
	! left || fail "the guest outlives vm.sh, killed by $signal"
done
[ $failed -eq 0 ] && echo "ok vm/frame"
exit $failed
