#!/bin/sh
# Shows that a program's ARMCI calls go to our shared library: provenance.sh PROGRAM LIBDIR
# [LAUNCHER...]
#
# Before it runs: PROGRAM needs libarmci.so.1, the loader finds that name in LIBDIR, PROGRAM defines
# nothing that the library exports, and every ARMCI symbol it lacks is exported there. With a
# LAUNCHER (mpirun -np 2, say) PROGRAM runs as well, and every binding the loader reports for an
# ARMCI symbol must lead to that file. Must not set LD_LIBRARY_PATH: what is checked is what the
# program does by itself.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
program=$1
libdir=$(realpath "$2")
shift 2
library=$(realpath "$libdir/libarmci.so.1")

fail() {
	echo "provenance: $program: $*" >&2
	exit 1
}

# armci_names TYPES FILE [nm option]: ARMCI symbols of these nm types
armci_names() {
	nm ${3:-} "$2" 2>/dev/null | awk -v types="$1" '
		{ sub(/@.*/, "", $NF) }
		index(types, $(NF - 1)) && $NF ~ /^P?(ARMCI|armci)X?I?_/ { print $NF }' |
		sort -u
}

readelf -d "$program" | grep -q 'NEEDED.*\[libarmci\.so\.1\]' || fail "does not need libarmci.so.1"
found=$(ldd "$program" | awk '$1 == "libarmci.so.1" { print $3 }')
[ "$(realpath "${found:-/nowhere}")" = "$library" ] ||
	fail "the loader takes libarmci.so.1 from '$found', not from $libdir"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
armci_names TtDdBbVWC "$program" >"$work/own"
armci_names U "$program" >"$work/wanted"
armci_names TtDdBbVW "$library" -D >"$work/given"
own=$(comm -12 "$work/own" "$work/given")
[ -z "$own" ] || fail "contains ARMCI itself:" $own
missing=$(comm -23 "$work/wanted" "$work/given")
[ -z "$missing" ] || fail "symbols $library does not export:" $missing
[ -s "$work/wanted" ] || fail "uses no ARMCI symbol at all"

if [ $# -gt 0 ]; then
	"$@" env LD_DEBUG=bindings LD_DEBUG_OUTPUT="$work/bind" "$program" >"$work/out" 2>&1 ||
		{ tail -n 20 "$work/out" >&2; fail "failed under $1"; }
	cat "$work"/bind.* | awk -v library="$library" '
		/binding file/ && match($0, /`P?(ARMCI|armci)[A-Za-z_0-9]*/) {
			target = $0; sub(/.* to /, "", target); sub(/ \[.*/, "", target)
			print substr($0, RSTART + 1, RLENGTH - 1), target
		}' | sort -u >"$work/bound"
	while read -r name target; do
		[ "$(realpath "$target")" = "$library" ] || fail "$name is bound to $target"
	done <"$work/bound"
	[ -s "$work/bound" ] || fail "the loader reported no ARMCI binding"
	echo "provenance: $(basename "$program"): $(wc -l <"$work/bound") ARMCI symbols bound at" \
		"run time, all to $library"
else
	echo "provenance: $(basename "$program"): $(wc -l <"$work/wanted") ARMCI symbols," \
		"all from $library"
fi
