# SPDX-License-Identifier: BSD-3-Clause
# work.sh - for the scripts of this directory, to be sourced: WORK is there and empty, and fail says
# what is wrong, shows the end of WORK/log if there is one, and ends the test.
rm -rf "$WORK"
mkdir -p "$WORK"
fail() {
	echo "FAIL: $*"
	[ ! -f "$WORK/log" ] || sed 's/^/    | /' "$WORK/log" | tail -n 40
	exit 1
}
