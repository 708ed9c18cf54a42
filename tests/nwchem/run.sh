#!/bin/sh
# NWChem's DFT subset over our library: run.sh BUILD_DIR LIBDIR [INPUT...]
#
# BUILD_DIR keeps the package source and the compiled archives between runs (about 400 MB, 4 minutes
# the first time, seconds afterwards). LIBDIR holds libarmci.so.1 and libarmci.so of the ARMCI-MPI
# ABI for Open MPI; `debian` runs over Debian's own static library instead (reference times).
# Without INPUT every line of inputs.txt runs. Prints energy, reference and seconds; exit 0 all
# within 1e-6 hartree, 1 not, 77 skipped. NWCHEM_RANKS changes the 2 ranks. Must not write outside
# BUILD_DIR.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
if [ $# -lt 2 ]; then
	sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
	exit 2
fi
here=$(dirname "$(realpath "$0")")
mkdir -p "$1"
build=$(realpath "$1")
libdir=$2
shift 2
ranks=${NWCHEM_RANKS:-2}
limit=${NWCHEM_TIMEOUT:-600}

table() { grep -v '^#' "$here/inputs.txt"; }
if [ $# -eq 0 ]; then
	set -- $(table | awk '{ print $1 }')
fi

"$here/packages.sh" || exit $?
# shellcheck disable=SC2046 # a list of names
"$here/source.sh" "$build" $(table | awk '{ print $1 }')
"$here/build.sh" "$build" "$libdir"
if [ "$libdir" != debian ]; then
	"$here/../ga/provenance.sh" "$build/nwchem" "$libdir"
fi

export NWCHEM_BASIS_LIBRARY="$build/tree/src/basis/libraries/" OMP_NUM_THREADS=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# one INPUT: runs it in a directory of its own and judges the last energy
one() {
	scratch=$build/run/$1
	rm -rf "$scratch"
	mkdir -p "$scratch"
	start=$(date +%s.%N)
	status=0
	(cd "$scratch" && timeout -k 10 "$limit" mpirun.openmpi --oversubscribe -np "$ranks" \
		"$build/nwchem" "$build/tree/QA/tests/$1/$1.nw" >out 2>err) || status=$?
	seconds=$(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')
	reference=$(table | awk -v name="$1" '$1 == name { print $2 }')
	awk -v name="$1" -v want="$reference" -v status="$status" -v seconds="$seconds" \
		-v ranks="$ranks" '
		/Total DFT energy/ { energy = $NF; found = 1 }
		END {
			off = energy - want; if (off < 0) off = -off
			good = found && status == 0 && want != "" && off < 1e-6
			printf "%-4s %-12s %18.9f hartree (reference %.9f) " \
				"%6s s on %d ranks, exit %d\n",
				good ? "ok" : "FAIL", name, energy, want, seconds, ranks, status
			exit !good
		}' "$scratch/out" && return 0
	echo "--- end of $1's output"
	tail -n 15 "$scratch/out" "$scratch/err"
	return 1
}

verdict=0
for input in "$@"; do
	one "$input" || verdict=1
done
exit $verdict
