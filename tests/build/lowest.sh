#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lowest.sh - builds the library with the oldest Go that go.mod allows, and uses it. Go fetches that
# version from the module proxy. Releases of one minor version (1.26.0, 1.26.8) differ in neither
# language nor library: if the Go at hand is of the oldest minor version, every build is this test,
# and nothing is done here unless LOWEST_ALWAYS is set.
#
#   SOURCE=... BUILD=... WORK=... GO=go CC_none=cc [LOWEST_ALWAYS=1] sh lowest.sh
set -u
lowest=$(sed -n 's/^go //p' "$SOURCE/go.mod")
minor=$(echo "$lowest" | cut -d. -f1,2)
here=$("$GO" env GOVERSION)
case $here in
go"$minor" | go"$minor".*)
	[ -n "${LOWEST_ALWAYS:-}" ] || {
		echo "ok $here is of the oldest version that go.mod allows, $minor"
		exit 0
	}
	;;
esac
rm -rf "$WORK"
mkdir -p "$WORK" || exit 1
export GOTOOLCHAIN="go$lowest"
cd "$SOURCE" || exit 1
"$GO" version >"$WORK/log" 2>&1 || {
	echo "SKIP: no Go $lowest: $(tail -n 1 "$WORK/log")"
	exit 77
}
fail() { echo "FAIL $1"; tail -n 20 "$WORK/log"; exit 1; }
"$GO" build -trimpath -buildvcs=false -tags netgo,osusergo -buildmode=c-shared \
	-o "$WORK/libarmci.so.0" ./capi >"$WORK/log" 2>&1 &&
	"$GO" build -trimpath -buildvcs=false -tags netgo,osusergo -o "$WORK" ./cmd/... \
		>"$WORK/log" 2>&1 || fail "not built with Go $lowest"
$CC_none -Iinclude -o "$WORK/hello" tests/install/hello.c "$WORK/libarmci.so.0" "-Wl,-rpath,$WORK" \
	>"$WORK/log" 2>&1 &&
	"$WORK/armcirun" -n 2 "$WORK/hello" >"$WORK/log" 2>&1 &&
	grep -q 'ok hello of 2' "$WORK/log" || fail "hello, built with Go $lowest"
echo "ok built with Go $lowest, and used"
