#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apps.sh - the applications of the papers: small problems on three ranks of a node, where they
# allow that, and between two nodes of two; Matrix Market files of each kind; what is wrong with a
# command line or a file is told. papers.sh runs each on two ranks. Input: BUILD WORK.
set -eu
apps=$BUILD/bench/apps
. "$(dirname "$0")/work.sh"
[ -x "$apps/mg" ] || { echo "skip: no Open MPI"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# app RANKS EACH NAME [ARGUMENT]...: on nodes of EACH ranks.
app() {
	n=$1 each=$2 name=$3
	shift 3
	# shellcheck disable=SC2016 # for the ranks' shell
	timeout 60 mpirun.openmpi --oversubscribe -n "$n" --mca pml ob1 --mca btl vader,self \
		sh -c "ARMCI_NODE=node\$((OMPI_COMM_WORLD_RANK / $each))"'
		export ARMCI_NODE && exec "$@"' - "$apps/$name" "$@" >"$WORK/log" 2>&1
}

# right RANKS EACH CHECKS NAME [ARGUMENT]...: exits with 0 and prints so many checks, all ok.
right() {
	n=$1 each=$2 checks=$3
	shift 3
	app "$n" "$each" "$@" || fail "$*: exit status $?"
	[ "$(grep -c '^CHECK.*ok$' "$WORK/log")" = "$checks" ] ||
		fail "$*: $checks versions should be right"
}

# wrong TEXT RANKS NAME [ARGUMENT]...: is refused with a text.
wrong() {
	text=$1 n=$2
	shift 2
	! app "$n" "$n" "$@" || fail "$*: was taken"
	grep -q -- "$text" "$WORK/log" || fail "$*: does not say '$text'"
}

right 4 2 2 mg -q S
right 4 2 5 sparse -q
right 3 3 5 sparse -q
right 4 2 6 lu -q
right 3 3 6 lu -q
for name in srumma transpose jacobi counter; do
	[ -x "$apps/$name" ] || continue
	app 4 2 $name -q || fail "$name: exit status $?"
	! grep -q WRONG "$WORK/log" || fail "$name: a wrong result"
done

# matrix KIND LINE...: a file.
matrix() {
	printf '%%%%MatrixMarket matrix coordinate %s\n%% a comment\n' "$1"
	shift
	printf '%s\n' "$@"
}
matrix "real general" "3 3 4" "1 1 2.5" "2 3 -1e0" "3 1 4" "3 3 1" >"$WORK/general.mtx"
matrix "integer symmetric" "3 3 3" "1 1 2" "3 1 -1" "3 3 4" >"$WORK/symmetric.mtx"
matrix "pattern general" "4 4 3" "1 4" "2 2" "4 1" >"$WORK/pattern.mtx"
matrix "real skew-symmetric" "3 3 1" "3 1 7" >"$WORK/skew.mtx"
for kind in general symmetric pattern skew; do right 2 1 5 sparse -r 1 "$WORK/$kind.mtx"; done
grep -q 'sparse/mpi	3/2	' "$WORK/log" ||
	fail "a skew-symmetric matrix has an element on both sides of the diagonal"

matrix "complex general" "1 1 1" "1 1 1 1" >"$WORK/complex.mtx"
wrong "complex" 2 sparse "$WORK/complex.mtx"
matrix "real general" "2 2 2" "1 1 1" "3 1 1" >"$WORK/outside.mtx"
wrong "outside.mtx:5: row" 2 sparse "$WORK/outside.mtx"
matrix "real general" "2 2 3" "1 1 1" "2 2 1" >"$WORK/short.mtx"
wrong "short.mtx" 2 sparse "$WORK/short.mtx"
wrong "No such file" 2 sparse "$WORK/none.mtx"
wrong "power of two" 3 mg S
wrong "one class" 2 mg Q
wrong "BLOCK" 2 lu 96 3
wrong "no version" 2 jacobi -v moon
wrong "usage" 2 counter -z
wrong "usage" 2 jacobi 64 2 3
wrong "usage" 2 transpose -r 2x 64
wrong "BLOCK\|N is\|multiple" 2 lu 12abc
echo "ok perf/apps"
