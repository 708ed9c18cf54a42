#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# abidiff.sh check|update LIBRARY HEADERS BASELINE - compares what programs see of a library
# (functions, parameters, layouts of the types of its public headers) with a stored description. New
# functions are no difference; everything else is: docs/abi.md says what that means. `update` writes
# the description anew. It needs abidw and abidiff, and a library built with -g.
set -u
what=$1 library=$2 headers=$3 baseline=$4
skip() { echo "SKIP: $1"; exit 77; }
command -v abidw >/dev/null 2>&1 || skip "no abidw (Debian: abigail-tools)"
[ "$(uname -m)" = x86_64 ] || skip "the stored description is of x86-64"
readelf -S --wide "$library" | grep -q ' \.debug_info ' ||
	skip "$library has no debugging information"

case $what in
update)
	# Without functions that are not exported, which abidw writes too, and files that then are
	# empty.
	abidw --headers-dir "$headers" --drop-private-types --no-corpus-path --no-comp-dir-path \
		--no-show-locs --no-architecture \
		--no-elf-needed --no-parameter-names "$library" | awk '
		/^    <function-decl / && !/elf-symbol-id=/ { hidden = !/\/>$/; next }
		hidden { if (/^    <\/function-decl>/) hidden = 0; next }
		/^  <abi-instr / { held = $0; next }
		/^  <\/abi-instr>/ && held != "" { held = ""; next }
		held != "" { print held; held = "" }
		{ print }' >"$baseline"
	;;
check)
	abidiff --headers-dir2 "$headers" --drop-private-types --no-added-syms \
		--no-architecture "$baseline" "$library" || {
		echo "FAIL: programs that run with what $(basename "$baseline") describes may not" \
			"run with this library; see docs/abi.md"
		exit 1
	}
	echo "ok $(basename "$library") keeps what $(basename "$baseline") describes"
	;;
esac
