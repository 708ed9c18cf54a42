#!/bin/sh
# Our Global Arrays programs over Debian's prebuilt libga and our library: run.sh FLAVOUR LIBDIR
# WORK
#
# FLAVOUR is openmpi or mpich; LIBDIR holds libarmci.so.1 and libarmci.so of that flavour of the
# ARMCI-MPI ABI, or is the word `debian` for Debian's own static ARMCI-MPI (reference); WORK is a
# directory for programs and output. Compiles every program of programs.txt as a user would, shows
# that its ARMCI calls really reach LIBDIR, runs it on every listed number of ranks (those of
# GA_RANKS, if that says some), and some with ranks on pretended nodes (GA_PLACEMENTS; none if that
# is empty). The exit codes are the verdict: 0 all passed, 1 not, 77 skipped. What is newer than its
# sources is not compiled and looked at again.
# Compilers and launcher may be given as CC_<flavour>, FC_<flavour>, RUN_<flavour> (which ends in
# "-n 2").
# Must not use a header or library of our classic ABI: Debian's libga was compiled against
# ARMCI-MPI's.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
if [ $# -ne 3 ]; then
	sed -n '2,16s/^# \{0,1\}//p' "$0" >&2
	exit 2
fi
here=$(dirname "$(realpath "$0")")
flavour=$1
libdir=$2
mkdir -p "$3"
work=$(realpath "$3")
limit=${GA_TIMEOUT:-120}

eval "cc=\${CC_$flavour:-mpicc.$flavour} fc=\${FC_$flavour:-mpif90.$flavour}"
eval "start=\${RUN_$flavour:-}"
if [ -z "$start" ]; then
	case $flavour in
	openmpi) start="mpirun.openmpi --allow-run-as-root --oversubscribe -n 2" ;;
	*) start="mpiexec.$flavour -n 2" ;;
	esac
fi
start=${start% *}

skip() {
	echo "ga: skipped: $*"
	exit 77
}
# shellcheck disable=SC2086 # commands with arguments
for tool in ${cc%% *} ${fc%% *} ${start%% *}; do
	command -v "$tool" >/dev/null 2>&1 || skip "$flavour: no $tool here"
done
libga=$(gcc -print-file-name="libga-$flavour.a")
[ -e "$libga" ] || skip "no libga-$flavour.a; the package is libglobalarrays-dev"
for lib in "libscalapack-$flavour.so" liblapack.so libblas.so; do
	[ -e "$(gcc -print-file-name="$lib")" ] || skip "$flavour: no $lib, which libga needs"
done

if [ "$libdir" = debian ]; then
	armci="-larmci-$flavour"
else
	libdir=$(realpath "$libdir")
	[ -e "$libdir/libarmci.so.1" ] || skip "no libarmci.so.1 in $libdir"
	armci="-L$libdir -Wl,-rpath,$libdir -larmci"
fi
libs="$libga $armci -lscalapack-$flavour -llapack -lblas -lgfortran -lm"
warn="-Wall -Wextra ${WERROR-}"
fortran="-Wall -Wno-unused-parameter ${WERROR-} -fdefault-integer-8 -cpp"

made() { # PROGRAM: newer than the sources and the library
	for from in "$1".c "$1".F90 gacheck.F90 gacheck.h run.sh; do
		[ ! -e "$here/${from##*/}" ] || [ "$1" -nt "$here/${from##*/}" ] || return 1
	done
	[ "$libdir" != debian ] && [ "$1" -nt "$libdir/libarmci.so.1" ]
}

compile() { # NAME LANGUAGE
	compiled="$compiled $1"
	# shellcheck disable=SC2086
	case $2 in
	c) $cc -O2 -g $warn "$here/$1.c" -o "$work/$1" $libs ;;
	f) $fc -O2 -g $fortran -J"$work" "$here/gacheck.F90" "$here/$1.F90" -o "$work/$1" $libs ;;
	esac
}

compiled=
failed=0
fail() {
	echo "FAIL $flavour $*"
	failed=$((failed + 1))
}

# lines STATUS: how much of a failed program's output is shown; behind a time limit come the stacks.
lines() {
	[ "$1" -eq 124 ] && echo 3000 || echo 20
}

run() { # NAME RANKS
	log=$work/$1.$2.log
	status=0
	# shellcheck disable=SC2086
	sh "$here/../limited.sh" "$limit" $start "$2" "$work/$1" >"$log" 2>&1 || status=$?
	if [ $status -ne 0 ] || ! grep -q "^ok ga/$1 on $2 ranks" "$log"; then
		fail "$1 on $2 ranks: exit $status"
		tail -n "$(lines $status)" "$log"
	else
		grep "^ok ga/" "$log"
	fi
}

grep -v '^#' "$here/programs.txt" >"$work/programs"
while read -r name language ranks; do
	if ! made "$work/$name"; then
		compile "$name" "$language" || { fail "$name does not compile"; continue; }
		[ "$libdir" = debian ] || "$here/provenance.sh" "$work/$name" "$libdir" ||
			fail "$name: not our library"
	fi
	for n in $(echo "$ranks" | tr , ' '); do
		case " ${GA_RANKS:-$n} " in
		*" $n "*) run "$name" "$n" ;;
		esac
	done
done <"$work/programs"

# Four ranks on pretended nodes that are not equal blocks: PLACEMENT is the node of each rank.
placed() { # NAME PLACEMENT
	log=$work/$1.$2.log
	status=0
	# shellcheck disable=SC2016,SC2086
	sh "$here/../limited.sh" "$limit" $start 4 sh -c 'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
		ARMCI_NODE=$(echo "$0" | cut -c $((rank + 1))) exec "$@"' "$2" "$work/$1" \
		>"$log" 2>&1 || status=$?
	if [ $status -ne 0 ] || ! grep -q "^ok ga/$1 on 4 ranks" "$log"; then
		fail "$1 with ranks on nodes $2: exit $status"
		tail -n "$(lines $status)" "$log"
	else
		echo "ok ga/$1 with ranks on nodes $2"
	fi
}

if [ "$libdir" != debian ]; then
	for placement in ${GA_PLACEMENTS-0101 0110 0001}; do
		for name in patches counter groups lock ghosts fpatches; do
			placed "$name" "$placement"
		done
	done
fi

# Once per flavour the loader itself says where every call went.
if [ "$libdir" != debian ] && [ -n "$compiled" ] && [ $failed -eq 0 ]; then
	for name in patches groups; do
		# shellcheck disable=SC2086
		"$here/provenance.sh" "$work/$name" "$libdir" $start 2 ||
			fail "$name: bound elsewhere"
	done
fi
[ $failed -eq 0 ] || echo "ga: $failed failures over $flavour"
[ $failed -eq 0 ]
