# SPDX-License-Identifier: BSD-3-Clause
# says.sh - for scripts that test a command, to be sourced: runs it, and compares status and output.
# It counts failures and ends nothing.
failures=0

# run CASE STATUS COMMAND...: standard output and error are in out and err.
run() {
	case=$1 want=$2
	shift 2
	"$@" >out 2>err
	status=$?
	[ $status -eq "$want" ] || fail "exit status $status, expected $want"
	echo "done $case"
}

fail() {
	failures=$((failures + 1))
	echo "FAIL $case: $*"
	sed 's/^/    | /' out err | head -12
}

says() { grep -q -e "$2" "$1" || fail "$1 does not say \"$2\""; }
silent() { [ ! -s "$1" ] || fail "$1 is not empty"; }
