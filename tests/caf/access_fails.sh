# SPDX-License-Identifier: BSD-3-Clause
# access_fails.sh - accesses that cannot succeed: runs fails/access_fails.f90 with each case of fails/access_fails.txt, on two images,
# and looks for the message and for an exit status that is not 0.
#
#   BUILD=... RUN_none="... -n 2" WORK=... sh access_fails.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$WORK" && cd "$WORK" || exit 1
failures=0

while IFS=: read -r which message; do
	case $which in '#'*) continue ;; esac
	# shellcheck disable=SC2154,SC2086 # set by ctest; words
	timeout -k 5 30 $RUN_none "$BUILD/tests/caf/ends/none/access_fails" "$which" >out 2>&1 </dev/null
	status=$?
	if [ $status -eq 0 ] || [ $status -eq 124 ] || ! grep -F "${message# }" out | grep -q '^libcaf_armci: image 1: '; then
		echo "FAIL $which: status $status, or it does not say \"${message# }\""
		sed 's/^/    | /' out | head -12
		failures=$((failures + 1))
	else
		echo "done $which: status $status"
	fi
done <"$here/fails/access_fails.txt"
echo "$failures failures"
[ $failures -eq 0 ]
