#!/bin/sh
# The manual pages of the functions are written without a complaint of roff, are found under every
# name, and the programs on them are compiled and run. docs/reference's own test says that they are
# complete.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
pages=$BUILD/reference/man3
rm -rf "$WORK"
mkdir -p "$WORK"
bad=0
fail() {
	echo "FAILED: $*"
	bad=1
}

[ "$(find "$pages" -name '*.3' | wc -l)" -ge 245 ] ||
	fail "only $(find "$pages" -name '*.3' | wc -l) pages"
if command -v groff >/dev/null; then
	for page in $(grep -L '^\.so' "$SOURCE"/docs/man/*.[137] "$pages"/*.3); do
		groff -man -mandoc -Tutf8 -ww -z "$page" 2>"$WORK/roff.log" &&
			[ ! -s "$WORK/roff.log" ] ||
			fail "$page: $(head -n 3 "$WORK/roff.log")"
	done
	echo "pages are written"
else
	echo "no groff: pages are not written"
fi
mkdir -p "$WORK/man"
ln -s "$pages" "$WORK/man/man3"
if command -v man >/dev/null && man --version >/dev/null 2>&1; then
	for name in ARMCI_GetS PARMCI_NbAccV armci_msg_clus_dgop ARMCIX_Unlock_hdl \
		armci_sameclusnode; do
		man -M "$WORK/man" -P cat 3 "$name" 2>/dev/null | grep -q "$name" ||
			fail "man $name"
	done
	echo "pages are found"
fi

[ -n "$CC_none" ] || { echo "no C compiler: the programs are not compiled"; exit $bad; }
compile() { # compile COMPILER NAME
	# shellcheck disable=SC2086
	$1 -std=c11 -Wall -Wextra -Werror -O1 -pthread -I"$SOURCE/include" -o "$WORK/$2" \
		"$SOURCE/docs/reference/examples/$2.c" \
		-L"$BUILD/lib" -Wl,-rpath,"$BUILD/lib" -larmci || fail "$2 is not compiled"
}
run() { # run NAME LAUNCHER...
	name=$1
	shift
	timeout 60 "$@" "$WORK/$name" >"$WORK/$name.log" 2>&1 || {
		fail "$*: $name"
		cat "$WORK/$name.log"
	}
}
for source in "$SOURCE"/docs/reference/examples/*.c; do
	name=$(basename "$source" .c)
	if ! grep -q '<mpi.h>' "$source"; then
		compile "$CC_none" "$name"
		# Two ranks of one node, and one of another.
		run "$name" "$BUILD/bin/armcirun" -n 3 -nodes 2
	elif [ -n "$CC_mpich$CC_openmpi" ]; then
		compile "${CC_mpich:-$CC_openmpi}" "$name"
		# shellcheck disable=SC2086
		run "$name" ${RUN_mpich:-$RUN_openmpi}
	else
		echo "no MPI: $name is not compiled"
	fi
done
echo "$(find "$WORK" -name '*.log' | wc -l) programs"
exit $bad
