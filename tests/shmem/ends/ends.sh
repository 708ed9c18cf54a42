# SPDX-License-Identifier: BSD-3-Clause
# ends.sh - how jobs of OpenSHMEM end: each way of ends.txt, on one node and on two: the exit
# status, and what is printed.
#
#   BUILD=... RUN_none="... -n 2" WORK=... sh ends.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$WORK" && cd "$WORK" || exit 1
failures=0
for nodes in 1 2; do
	while IFS=: read -r way want text; do
		case $way in '#'*) continue ;; esac
		# shellcheck disable=SC2086 # words
		timeout -k 5 60 ${RUN_none% *} 4 -nodes $nodes "$BUILD/tests/shmem/ends/ends" \
			"$way" >out 2>&1 </dev/null
		status=$?
		if [ $status -ne "$want" ] || ! grep -q -F -e "$text" out; then
			failures=$((failures + 1))
			echo "FAIL $way on $nodes nodes: status $status, not $want and \"$text\""
			sed 's/^/    | /' out | head -12
		fi
	done <"$here/ends.txt"
done
timeout 60 ${RUN_none% *} 2 "$BUILD/tests/shmem/ends/before" >out 2>&1 &&
	echo "FAIL before: status 0" && failures=$((failures + 1))
grep -q -F 'shmem_int_p: PE 0: shmem_init was not called' out || {
	failures=$((failures + 1))
	sed 's/^/    | /' out
}
echo "$failures failures"
[ $failures -eq 0 ]
