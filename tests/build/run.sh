#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - what the build promises to packagers: it works in a directory with a space in its name,
# from vendored modules when nothing can be fetched, says what to do when they are missing, and
# honours CFLAGS, LDFLAGS and the build type. It builds the smallest part, in a copy of the sources,
# and must not write anywhere else but to Go's build cache.
#
#   SOURCE=... WORK=... CMAKE=cmake GO=go sh run.sh
set -u
tree="$WORK/a tree"
fail() {
	echo "FAIL $*"
	[ ! -s "$WORK/log" ] || tail -n 25 "$WORK/log" | sed 's/^/    | /'
	exit 1
}

chmod -R u+w "$WORK" 2>/dev/null # Go writes its module cache read-only
rm -rf "$WORK"
mkdir -p "$tree" "$WORK/nothing" || exit 1
(cd "$SOURCE" && tar -cf - --exclude='./build*' --exclude=./.git --exclude=./vendor .) |
	tar -C "$tree" -xf - || fail "copy"

# configure [OPTION]...: without modules and without a way to fetch any.
configure() {
	(cd "$tree" && env GOFLAGS= GOPROXY=off GOMODCACHE="$WORK/nothing" "$CMAKE" -S . -B build \
		-DARMCI_GO="$GO" -DARMCI_MPI_ABI=OFF "$@") >"$WORK/log" 2>&1
}

! configure || fail "configured without modules"
grep -q 'the Go modules that go.mod names are neither here' "$WORK/log" &&
	grep -q 'go mod vendor' "$WORK/log" ||
	fail "no word about missing modules"
echo "ok missing modules are named"

# From here on in the tree of the release tarball, if this is a checkout.
if GO=$GO sh "$SOURCE/packaging/dist.sh" "$WORK/once" >"$WORK/log" 2>&1; then
	(umask 077 && TZ=Asia/Tokyo GO=$GO sh "$SOURCE/packaging/dist.sh" "$WORK/twice") \
		>"$WORK/log" 2>&1 || fail "a second tarball"
	cmp "$WORK"/once/*.tar.gz "$WORK"/twice/*.tar.gz >"$WORK/log" 2>&1 ||
		fail "two tarballs of one commit differ"
	rm -rf "$tree"
	mkdir "$tree" && tar -C "$tree" --strip-components=1 -xf "$WORK"/once/*.tar.gz || fail "tar"
	! (cd "$tree" && GO=$GO sh packaging/dist.sh "$WORK/never") >"$WORK/log" 2>&1 &&
		grep -q 'no git checkout' "$WORK/log" ||
		fail "a tarball of a tarball"
	echo "ok the release tarball is the same each time"
else
	(cd "$tree" && "$GO" mod vendor) >"$WORK/log" 2>&1 || {
		echo "SKIP: go mod vendor: $(tail -n 1 "$WORK/log")"
		exit 77
	}
	rm -rf "$tree/build"
fi
CFLAGS='-O1 -DMARK="a b" -frecord-gcc-switches' LDFLAGS=-Wl,-z,now CPPFLAGS=-fno-trapping-math \
	configure -DCMAKE_BUILD_TYPE=Debug || fail "configure from vendor"
[ -s "$tree/build/licences/golang.org-x-sys.txt" ] || fail "no licence of a vendored module"
(cd "$tree" && GOFLAGS= GOPROXY=off GOMODCACHE="$WORK/nothing" "$CMAKE" --build build \
	--target build_examples_none_c_hello armcirun armci_caf) \
	>"$WORK/log" 2>&1 || fail "build in \"$tree\""
"$tree/build/bin/armcirun" -n 2 "$tree/build/examples/none/c/hello" >"$WORK/log" 2>&1 ||
	fail "hello"
echo "ok built in \"$tree\" from vendored modules"

lib=$tree/build/lib/libarmci.so.0
for file in "$lib" "$tree/build/lib/libcaf_armci.so.0" "$tree/build/bin/armcirun"; do
	readelf -dlnh "$file" >"$WORK/log" 2>&1
	grep -q -E 'BIND_NOW|FLAGS_1.* NOW' "$WORK/log" || fail "LDFLAGS are ignored in $file"
	grep -q 'GNU_RELRO' "$WORK/log" || fail "no RELRO in $file"
	grep -q 'Build ID' "$WORK/log" || fail "no build id in $file"
	grep -q 'Type: *DYN' "$WORK/log" || fail "$file is not position-independent"
done
for source in "$tree/build/examples/none/c/hello" "$lib" "$tree/build/lib/libcaf_armci.so.0"; do
	readelf -p .GCC.command.line "$source" >"$WORK/log" 2>&1
	for flag in -O1 -g -fno-trapping-math; do
		grep -q -e " $flag\( \|$\)" "$WORK/log" || fail "$flag is ignored in $source"
	done
	! grep -q -e ' -O[23]\( \|$\)' "$WORK/log" || fail "CFLAGS do not count in $source"
done
echo "ok CFLAGS, LDFLAGS and the build type are honoured"
