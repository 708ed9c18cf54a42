#!/bin/sh
# NWChem's DFT over this library and over ARMCI-MPI, from the same compiled objects.
#
#   nwchem.sh prepare BUILD                       compiles it below BUILD/tests/nwchem, as
#                                                 ../../tests/nwchem does, and links both
#   nwchem.sh DIR libarmci|armci-mpi INPUT -- WORD...   runs an input; the words start a program;
#                                                       DIR/run is for its files
#
# BUILD in the environment is where it was prepared. Prints the lines of armci_perf's worker: PERF
# with the seconds of the whole run, and of NWChem's own clock, and CHECK with the energy. Exit
# status 77: not possible here.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
tests=$(cd "$(dirname "$0")/../../tests/nwchem" && pwd)
[ $# -ge 2 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }

# prepare: the test's own build, linked twice.
prepare() {
	nwchem=$(realpath "$1")/tests/nwchem
	mkdir -p "$nwchem"
	"$tests/packages.sh" || exit $?
	# shellcheck disable=SC2046 # a list of names
	"$tests/source.sh" "$nwchem" $(grep -v '^#' "$tests/inputs.txt" | awk '{ print $1 }')
	"$tests/build.sh" "$nwchem" debian
	mv "$nwchem/nwchem" "$nwchem/nwchem-armci-mpi"
	"$tests/build.sh" "$nwchem" "$1/lib/armci-mpi/openmpi"
	cp "$nwchem/nwchem" "$nwchem/nwchem-libarmci"
}
if [ "$1" = prepare ]; then
	prepare "$2"
	exit
fi

dir=$1 armci=$2 input=$3
shift 4
nwchem=${BUILD:?}/tests/nwchem
[ -x "$nwchem/nwchem-$armci" ] || { echo "nwchem.sh: run nwchem.sh prepare first" >&2; exit 77; }
export NWCHEM_BASIS_LIBRARY="$nwchem/tree/src/basis/libraries/" OMP_NUM_THREADS=1
scratch=$dir/run/$armci-$input.$$
mkdir -p "$scratch"
launcher=
trap '[ -z "$launcher" ] || kill "$launcher" 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
status=0
start=$(date +%s.%N)
(cd "$scratch" && exec "$@" "$nwchem/nwchem-$armci" "$nwchem/tree/QA/tests/$input/$input.nw" >out) &
launcher=$!
wait "$launcher" || status=$?
launcher=
awk -v start="$start" -v end="$(date +%s.%N)" -v name="nwchem/$armci" -v input="$input" \
	-v status="$status" \
	-v want="$(awk -v name="$input" '$1 == name { print $2 }' "$tests/inputs.txt")" '
	function perf(what, seconds) {
		printf "PERF\t%s%s\t%s\t0\t%d\tns\t%.6g\t-\n", name, what, input, ranks,
			seconds * 1e9
	}
	/nproc  *=/ { ranks = $NF }
	/Total DFT energy/ { energy = $NF; found = 1 }
	/Total times  cpu:/ { wall = $NF; sub(/s$/, "", wall) }
	END {
		off = energy - want; if (off < 0) off = -off
		good = found && status == 0 && off < 1e-6
		perf("", end - start)
		perf(":clock", wall)
		printf "CHECK\t%s %s %.9f (reference %.9f), exit status %d\t%s\n", name, input,
			energy, want, status, good ? "ok" : "WRONG"
		exit !good
	}' "$scratch/out" || { tail -n 20 "$scratch/out" >&2; exit 1; }
