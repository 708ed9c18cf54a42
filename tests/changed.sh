#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# changed.sh - the unit tests, without the race detector, of packages with files that differ from
# where this branch has left the main one (on the main branch: from the last commit), or that git
# does not know yet; and the rules that every file must keep. It must not judge C programs: those
# are ctest's.
#
#   GO=go CMAKE=cmake sh changed.sh
set -eu
cd "$(dirname "$0")/.."
git rev-parse HEAD >/dev/null 2>&1 || {
	echo "quick: no git here, so nobody knows which packages have changed"
	exit 0
}

base=HEAD
for main in origin/main origin/master main master '@{upstream}'; do
	if found=$(git merge-base HEAD "$main" 2>/dev/null); then
		base=$found
		break
	fi
done

# tested DIRECTORY: it, or the nearest one above it that has unit tests.
tested() {
	dir=$1
	while [ "$dir" != . ]; do
		for test in "$dir"/*_test.go; do
			[ ! -e "$test" ] || [ "$dir" = tests/abi ] || echo "./$dir"
			[ ! -e "$test" ] || return 0
		done
		dir=$(dirname "$dir")
	done
}

packages=$({
	git diff --name-only "$base"
	git ls-files --others --exclude-standard
	echo internal/deps_test.go
	echo tests/policy/policy_test.go
} | sed 's,/[^/]*$,,' | sort -u | while read -r dir; do tested "$dir"; done | sort -u)
echo "unit tests of what differs from $(git describe --always "$base"):" $packages
exec "$CMAKE" -DGO="$GO" -DSOURCE="$PWD" -DPACKAGE="$(echo "$packages" | paste -sd';')" \
	-DRACE=OFF -DQUIET=ON -P cmake/go_test.cmake
