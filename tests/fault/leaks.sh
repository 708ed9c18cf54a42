# SPDX-License-Identifier: BSD-3-Clause
# leaks.sh - programs under the address sanitizer: its checker of leaks finds none of ours at exit:
# after ARMCI_Finalize, and in a process that exits without it, while all is in use.
#
#   BUILD=... CC_none=... WORK=... sh leaks.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=${SOURCE:-$(cd "$here/../.." && pwd)}
[ -n "${CC_none:-}" ] || { echo "SKIP: no C compiler"; exit 77; }
. "$here/../says.sh"
mkdir -p "$WORK" && cd "$WORK" || exit 1
asan="-fsanitize=address -g"
# shellcheck disable=SC2086 # words
echo 'int main(void) { return 0; }' | $CC_none $asan -x c -o empty - 2>/dev/null && ./empty ||
	{ echo "SKIP: $CC_none has no address sanitizer here"; exit 77; }
# shellcheck disable=SC2086
$CC_none $asan -std=gnu11 -Wall -Wextra ${WERROR-} -I"$SOURCE/include" -o leaks "$here/leaks.c" \
	-L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -larmci || exit 1
export ASAN_OPTIONS=detect_leaks=1
for nodes in 1 2; do
	for way in '' exit; do
		# shellcheck disable=SC2086
		run "$nodes nodes $way" 0 "$BUILD/bin/armcirun" -n 2 -nodes $nodes ./leaks $way
		! grep -q Sanitizer out err || fail "leaks"
	done
done
[ $failures -eq 0 ] || exit 1
echo "ok leaks"
