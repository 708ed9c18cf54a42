#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# dist.sh DIRECTORY - makes the release tarball DIRECTORY/libarmci-VERSION.tar.gz: the files that
# git tracks and, in vendor/, the Go modules that go.mod names, so that it is built without a
# network. The same commit gives the same bytes: names are sorted, and times, owners and modes do
# not depend on the machine. It must be run in a checkout, and changes nothing in it.
set -eu
go=${GO:-go}
into=${1:?the directory}
cd "$(dirname "$0")/.."
fail() { echo "make dist: $1" >&2; exit 1; }

# The owner of the checkout does not matter here: nothing of it is run.
own_git() { git -c safe.directory='*' "$@"; }
[ "$(own_git rev-parse --show-prefix 2>/dev/null || echo none)" = "" ] ||
	fail "this is no git checkout; the tarball is made from what git tracks"
version=$(sed -n 's/^project(ARMCI VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
[ -n "$version" ] || fail "no version in CMakeLists.txt"
[ -z "$(own_git status --porcelain --untracked-files=no)" ] ||
	echo "make dist: the checkout has changes that are not committed;" \
		"the tarball has them, too" >&2
time=$(own_git log -1 --format=%ct)

mkdir -p "$into"
into=$(cd "$into" && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
tree=libarmci-$version
mkdir "$stage/$tree"
own_git ls-files -z | tar -cf - --null --no-recursion -T - | tar -C "$stage/$tree" -xf -
"$go" mod vendor -o "$stage/$tree/vendor" || fail "go mod vendor failed"
LC_ALL=C tar -C "$stage" --sort=name --format=ustar --mtime="@$time" --owner=0 --group=0 \
	--numeric-owner --mode=u=rwX,go=rX -cf "$stage/tar" "$tree"
gzip -n -9 <"$stage/tar" >"$stage/gz"
mv "$stage/gz" "$into/$tree.tar.gz"
chmod 644 "$into/$tree.tar.gz"
echo "$into/$tree.tar.gz"
