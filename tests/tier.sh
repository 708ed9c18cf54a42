#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tier.sh quick|check|full [CTEST ARGUMENT]... - runs the tests of one tier (tests/tiers.cmake says
# which these are) in the build directory BUILD, shows what long tests do meanwhile, and says why
# tests were skipped. The last lines are ctest's own summary, which stays in
# BUILD/Testing/TIER.summary; what failed tests said is in TIER.failed. It must not build anything.
#
#   BUILD=build JOBS=2 [CTEST=ctest] [TEST_PART=0] sh tier.sh check -R strided
#
# TEST_PART: a quarter of the tests that tiers.cmake divides into parts; without it, all of them.
# With arguments that match no test of the tier, but one of the other tier, `full` has nothing to
# do; `check` fails with a hint, unless TIER_MORE says that `full` comes next.
set -u
tier=${1:?the tier}
shift
cd "$BUILD" || exit 1
CTEST=${CTEST:-ctest}
case ${TEST_PART:-all} in
all) ;;
[0123]) set -- -LE "^part[$(echo 0123 | tr -d "$TEST_PART")]\$" "$@" ;;
*)
	echo "TEST_PART=$TEST_PART: must be 0, 1, 2 or 3" >&2
	exit 2
	;;
esac

# count TIER ARGUMENT...: how many of its tests the arguments select.
count() {
	label=$1
	shift
	$CTEST -N -L "^$label\$" "$@" 2>/dev/null | sed -n 's/^Total Tests: //p'
}

n=$(count "$tier" "$@")
if [ "${n:-0}" -eq 0 ]; then
	if [ $tier = check ] && [ "$(count full "$@")" != 0 ]; then
		[ -z "${TIER_MORE:-}" ] || exit 0
		echo "make check: only make check-all has such tests" >&2
		exit 1
	fi
	[ $tier != full ] || [ "$(count check "$@")" = 0 ] || exit 0
	echo "no test is selected by: $*" >&2
	exit 1
fi

rm -f "Testing/$tier.summary"
mkdir -p Testing
# One more than there are processors: most tests wait now and then.
beside=$((${JOBS:=2} + 1))
echo "$n tests of the tier \"$tier\", at most $beside processors' worth at a time"
exec 9>&1 # where tests/progress.sh shows what goes on inside a test
TEST_PROGRESS=9 $CTEST --output-on-failure --parallel "$beside" --no-tests=error \
	--no-label-summary --output-log "Testing/$tier.log" -L "^$tier\$" "$@"
status=$?

# The reasons of skipped tests, from what they printed.
reasons=$(awk 'NR == FNR { if ($NF == "(Skipped)") skipped[$3]; next }
	/^[0-9]+\/[0-9]+ Testing: / { name = $3; reason = "it does not say why" }
	reason == "it does not say why" && !/^Command: / &&
		tolower($0) ~ /skip(ped)?[: ]/ { reason = $0 }
	/^Test time =/ && name in skipped { print "skipped " name ": " reason }' \
	"Testing/$tier.log" Testing/Temporary/LastTest.log 2>/dev/null)
sed -n '/% tests passed/,$p' "Testing/$tier.log" | grep -v '^$' >"Testing/$tier.summary"
if [ -n "$reasons" ]; then
	echo "$reasons"
	cat "Testing/$tier.summary"
fi

# What failed tests said, 24 lines of each at most: those that look like an error, if there are any.
awk '/^[0-9]+\/[0-9]+ Testing: / { name = $3; n = some = shown = 0 }
	/^<end of output>/ { shown = 0 }
	shown { all[n++] = $0 }
	shown && /FAIL|panic|DATA RACE|_test\.go:|^ +\| |[Ee]rror/ { bad[some++] = $0 }
	/^-+$/ { shown = begun; begun = 0 }
	/^Output:$/ { begun = 1 }
	/^Test (Failed|Timeout)/ {
		print "failed " name ":"
		m = some ? some : n
		for (i = m > 24 ? m - 24 : 0; i < m; i++) print "    " (some ? bad[i] : all[i])
	}' Testing/Temporary/LastTest.log >"Testing/$tier.failed" 2>/dev/null
exit $status
