#!/bin/sh
# Fetches and unpacks Debian's nwchem source package: source.sh BUILD_DIR INPUT...
#
# The mirror is whatever this machine's apt already uses (apt-get indextargets); the list and the
# indices live in BUILD_DIR, so the machine's own apt configuration is neither read as root nor
# changed. Must not name a mirror, and must not unpack the parts of the package that the DFT subset
# never compiles: they are nine tenths of it. INPUT is the name of a directory under QA/tests.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(realpath -m "$1")
shift
inputs=$*
apt=$build/apt
mkdir -p "$apt/lists/partial" "$apt/archives/partial"

if [ -e "$build/unpacked" ]; then
	exit 0
fi

# deb-src lines for every place the configured binary packages come from
apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
	sort -u >"$apt/sources.list"
if [ ! -s "$apt/sources.list" ]; then
	echo "nwchem: apt has no package lists here; run apt-get update first" >&2
	exit 1
fi
src_apt() {
	apt-get -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::State::lists="$apt/lists" -o Dir::Cache::archives="$apt/archives" \
		-o APT::Sandbox::User=root -q "$@"
}
if ! ls "$build"/nwchem_*.orig.tar.* >/dev/null 2>&1; then
	src_apt update >"$build/source.log" 2>&1
	(cd "$build" && src_apt source --download-only nwchem) >>"$build/source.log" 2>&1
fi

# The directories NWCHEM_MODULES="nwdft driver solvation" compiles (nwchem_config.h lists them),
# what they include, and the three inputs.
keep='config include tools basis geom inp input pstat rtdb task symmetry util peigs perfm bq cons
NWints atomscf ddscf gradients nwdft stepper driver optim cphf vib hessian property solvation
64to32blas'
set -- '*/src/GNUmakefile' '*/src/nwchem.F'
for dir in $keep; do
	set -- "$@" "*/src/$dir/*"
done
for input in $inputs; do
	set -- "$@" "*/QA/tests/$input/*"
done
rm -rf "$build/tree"
mkdir -p "$build/tree"
tar -xf "$(ls "$build"/nwchem_*.orig.tar.*)" -C "$build/tree" --strip-components=1 --wildcards "$@"
: >"$build/unpacked"
