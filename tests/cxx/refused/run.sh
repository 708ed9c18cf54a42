#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - compiles refused.cc and wants every line that ends in a comment to be refused, with that
# text. An error inside a template counts for the lines that the compiler says it comes from. It
# must not need the library.
#   CXX=c++ SOURCE=... WORK=... sh run.sh
set -u
mkdir -p "$WORK" && cd "$WORK" || exit 1
LC_ALL=C
export LC_ALL
cp "$SOURCE/tests/cxx/refused/refused.cc" .
# shellcheck disable=SC2086 # a compiler may have arguments
if $CXX -std=c++17 -DARMCI_NO_MPI "-I$SOURCE/include" -ferror-limit=0 -fsyntax-only refused.cc \
	2>errors || grep -q 'ferror-limit' errors; then
	$CXX -std=c++17 -DARMCI_NO_MPI "-I$SOURCE/include" -fmax-errors=0 -fsyntax-only refused.cc \
		2>errors && { echo "FAIL it compiles"; exit 1; }
fi
# One line for each error with all that belongs to it: where it comes from stands before it (g++) or
# behind it (clang).
failed=0
grep -n ';  *// ' refused.cc >wanted
while IFS= read -r line; do
	number=${line%%:*} text=${line##*// }
	grep -E "refused\.cc:$number:|error: " errors | grep -E -A 1 -B 1 "refused\.cc:$number:" |
		grep -q -E "error: .*($text)" || {
		echo "FAIL line $number is not refused with \"$text\""
		failed=1
	}
done <wanted
[ $failed = 0 ] || { cat errors; exit 1; }
echo "ok $(wc -l <wanted) lines are refused"
