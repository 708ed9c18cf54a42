#!/bin/sh
# run.sh DIR [FIGURE]... - reruns the experiments of the papers (all, or those of the named figures)
# and draws the figures: DIR/papers.html, DIR/papers.md, DIR/figures. It builds what is needed, says
# how long all takes, and goes on where an earlier run has ended; remove DIR/data to measure anew.
# As root, hosts are network namespaces on this machine (../../tests/hosts); else ranks run on
# pretended nodes. Over RDMA there is the software verbs device (../../tests/softverbs).
#
# BUILD: the build (default build). OPTIONS: options of build/bench/papers, as -quick, -runs 3, -v;
# -list names the figures. NWCHEM=no leaves NWChem out, which takes minutes and 400 MB to compile.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
[ $# -ge 1 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")/.." && pwd)
root=$(dirname "$here")
BUILD=$(realpath -m "${BUILD:-$root/build}")
export BUILD
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
papers=$BUILD/bench/papers

[ -x "$papers" ] && [ -n "${PREPARED:-}" ] || make -s -C "$root" BUILD="$BUILD" tests
[ -e "$BUILD/tests/softverbs/libibverbs.so.1" ] ||
	echo "no software verbs device: nothing over RDMA"
"$here/apps/openblas.sh" "$BUILD" || true
if [ "${NWCHEM:-yes}" = yes ] && { [ $# -eq 0 ] || echo "$*" | grep -q 002-5; }; then
	"$here/apps/nwchem.sh" prepare "$BUILD" || echo "NWChem cannot be built here: left out"
fi

only=$(echo "$*" | tr ' ' ,)
# shellcheck disable=SC2086 # several words
set -- -source "$root" -out "$dir" ${only:+-only "$only"} ${OPTIONS:-}
status=0
if [ "$(id -u)" = 0 ]; then
	. "$here/hosts.sh"
	with_hosts 8 "$papers" "$@" || status=$?
fi
if [ "$(id -u)" != 0 ] || [ $status -eq 77 ]; then
	echo "no network namespaces: hosts are pretended nodes of this one"
	status=0
	"$papers" "$@" || status=$?
fi
echo "see $dir/papers.html"
exit $status
