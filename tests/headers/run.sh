#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compiles the public headers alone in every promised language, without and with each MPI, in both
# layouts; proves the layouts and constants; compares declarations with the list of exported
# symbols; compiles the Fortran module. It must not need the library. Usage: run.sh [INCLUDE_DIR].
# Environment: CC, CXX, FC. Prints what it checked and what it could not; exit status 0: all held,
# 1: something did not, 77: no C compiler.
set -u
here=$(cd "$(dirname "$0")" && pwd)
include=$(cd "${1:-$here/../../include}" && pwd) || exit 1
symbols=$here/../abi/symbols.txt
CC=${CC:-cc} CXX=${CXX:-c++} FC=${FC:-gfortran}
[ -n "$FC" ] || FC=gfortran
warn="-Wall -Wextra -Werror -pedantic"
headers="armci message parmci gpc armcix"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0 checks=0

has() { command -v "$1" >/dev/null 2>&1; }
skip() { echo "skip: $*"; }

# check WHAT COMMAND...: runs the command and counts it; on failure shows its output.
check() {
	what=$1
	shift
	checks=$((checks + 1))
	if ! "$@" >"$dir/out" 2>&1; then
		failed=$((failed + 1))
		echo "FAILED: $what: $*"
		head -n 30 "$dir/out"
	fi
}

# mpi_flags WRAPPER: its include directories, as system directories so that warnings in mpi.h are
# not ours.
mpi_flags() {
	"$1" -show | tr ' ' '\n' | sed -n 's/^-I/-isystem /p' | tr '\n' ' '
}

# one LABEL LANGUAGE COMPILER...: every header alone and again after itself, layouts, usage, with
# this compiler command.
one() {
	label=$1 lang=$2
	shift 2
	for h in $headers; do
		printf '#include <%s.h>\n#include <armci.h>\n#include "%s.h"\n' "$h" "$h" \
			>"$dir/alone.src"
		check "$label: $h.h first, then again" "$@" -x "$lang" \
			-fsyntax-only "$dir/alone.src"
	done
	check "$label: layouts and constants" "$@" -x "$lang" -fsyntax-only "$here/layout.c"
	check "$label: usage" "$@" -x "$lang" -fsyntax-only "$here/usage.c"
	printf '%s\n' '#define _STRIDE_INFO_H_' 'typedef struct { int mine; } stride_info_t;' \
		'#include <armci.h>' >"$dir/alone.src"
	check "$label: beside classic iterator.h" "$@" -x "$lang" -fsyntax-only "$dir/alone.src"
	echo "checked: $label"
}

# cxx_header LABEL STANDARD HEADER FLAGS: one of armci.hpp and its parts, first and again, with
# every warning.
cxx_header() {
	printf '#include <%s>\n#include <%s>\n' "$3" "$3" >"$dir/alone.cc"
	# shellcheck disable=SC2086 # words
	check "$1, $2: $3" $CXX "-std=$2" $warn -Wshadow -Wconversion $4 \
		-fsyntax-only "$dir/alone.cc"
}

# cxx_parts: each part of armci.hpp alone, and how it is used; with each MPI below, the whole is
# enough.
cxx_parts() {
	has "${CXX%% *}" || return 0
	for part in "$include"/armci/*.hpp; do
		cxx_header "without MPI" c++17 "${part#"$include"/}" "-DARMCI_NO_MPI -I$include"
	done
	for standard in c++17 c++20; do
		check "usage.cc, $standard" $CXX -std=$standard $warn -Wshadow -Wconversion \
			-DARMCI_NO_MPI "-I$include" -fsyntax-only "$here/usage.cc"
	done
	echo "checked: armci.hpp and its parts, C++17; usage.cc, C++17 and C++20"
}

# languages LABEL FLAGS: C99, C11 and C++17 with these include flags.
languages() {
	env=$1 flags=$2
	one "C99, $env" c $CC -std=c99 $warn $flags
	one "C11, $env" c $CC -std=c11 $warn $flags
	if has "${CXX%% *}"; then
		one "C++17, $env" c++ $CXX -std=c++17 $warn $flags
		cxx_header "$env" c++17 armci.hpp "$flags"
	else
		skip "C++17, $env: no C++ compiler $CXX"
	fi
}

# declared_names FLAGS: every function and variable the headers declare, by name.
declared_names() {
	printf '#include <%s.h>\n' $headers >"$dir/all.c"
	$CC -E -P $1 "$dir/all.c" | tr -s ' \t\n' ' ' | tr ';' '\n' |
		sed -n '
		s/^.*[ *]\(P\{0,1\}\(ARMCI\|armci\|parmci\|dassertp\|derr\)[A-Za-z_]*\)(.*$/\1/p
		s/^.*extern .*[ *]\([A-Za-z_]\{1,\}\) *$/\1/p' | sort -u
}

# symbols_agree: what the headers declare is what the library promises to export, apart from two
# internal variables.
symbols_agree() {
	if [ ! -f "$symbols" ]; then
		skip "declarations against the export list: no $(basename "$symbols") here"
		return
	fi
	declared_names "-DARMCI_NO_MPI -DARMCI_MPI_OPENMPI -I$include" >"$dir/declared"
	sed -n 's/^[TWD] //p' "$symbols" | grep -v '^ARMCI_\(Default\|World\)_Proc_Group$' |
		sort -u >"$dir/exported"
	LC_ALL=C sort -o "$dir/declared" "$dir/declared"
	LC_ALL=C sort -o "$dir/exported" "$dir/exported"
	check "declared names equal exported names" diff "$dir/declared" "$dir/exported"
	echo "checked: $(wc -l <"$dir/declared") declared names against the export list"
}

# profiling_agrees: PARMCI_x is declared with exactly the arguments of ARMCI_x.
profiling_agrees() {
	$CC -E -P -DARMCI_NO_MPI -DARMCI_MPI_OPENMPI "-I$include" -x c "$include/armci.h" |
		tr -s ' \t\n' ' ' | tr ';' '\n' | sed 's/^ *//' >"$dir/decls"
	grep -E '[ *](PARMCI|parmci)_' "$dir/decls" |
		sed -e 's/PARMCI_/ARMCI_/' -e 's/parmci_/armci_/' |
		LC_ALL=C sort >"$dir/twins"
	LC_ALL=C sort "$dir/decls" | LC_ALL=C comm -23 "$dir/twins" - >"$dir/strange"
	check "PARMCI_ prototypes equal their twins" test ! -s "$dir/strange"
	check "there are PARMCI_ prototypes" test "$(wc -l <"$dir/twins")" -ge 60
	cat "$dir/strange"
	echo "checked: $(wc -l <"$dir/twins") profiling prototypes against their twins"
}

# fortran ABI SUBDIRECTORY FLAGS: the module of this ABI compiles cleanly, is usable, links with
# nothing and has the values and layouts of the C headers.
fortran() {
	abi=$1 sub=$2 flags=$3
	if ! has "${FC%% *}"; then
		skip "Fortran module, $abi: no Fortran compiler"
		return
	fi
	if [ ! -f "$include/$sub/armci.f90" ]; then
		skip "Fortran module, $abi: no armci.f90 in $include/$sub"
		return
	fi
	mkdir "$dir/$abi"
	strict="-std=f2018 $warn -J$dir/$abi"
	check "Fortran module, $abi" $FC $strict -fsyntax-only "$include/$sub/armci.f90"
	check "Fortran usage, $abi" $FC $strict -fsyntax-only "$here/usage.f90"
	check "Fortran usage, $abi, 8-byte default integers" $FC $strict -fdefault-integer-8 \
		-fsyntax-only "$here/usage.f90"
	[ "$abi" != classic ] ||
		check "Fortran usage, handles and groups as integers" $FC $strict \
			-fsyntax-only "$here/usage_integers.f90"
	check "Fortran constants, $abi" $FC $strict -o "$dir/f" "$here/constants.f90"
	check "C constants, $abi" $CC -std=c99 $warn -DARMCI_NO_MPI $flags "-I$include" \
		-o "$dir/c" "$here/constants.c"
	"$dir/f" >"$dir/f.txt"
	"$dir/c" >"$dir/c.txt"
	check "Fortran and C constants and layouts are equal, $abi" diff "$dir/f.txt" "$dir/c.txt"
	echo "checked: Fortran 2018, $abi, module and $(wc -l <"$dir/c.txt") values"
}

has "${CC%% *}" || { skip "everything: no C compiler $CC"; exit 77; }
languages "without MPI" "-DARMCI_NO_MPI -I$include"
cxx_parts
languages "whatever the compiler finds" "-I$include"
for mpi in openmpi mpich; do
	if ! has mpicc.$mpi; then
		skip "$mpi: no mpicc.$mpi"
		continue
	fi
	flags=$(mpi_flags mpicc.$mpi)
	languages "$mpi" "$flags -I$include"
	languages "$mpi, ARMCI-MPI layouts" "$flags -I$include/armci-mpi"
done
for stand_in in "OPENMPI -DOPEN_MPI" MPICH; do
	one "C11, layouts of ${stand_in%% *} without its mpi.h" c $CC -std=c11 $warn \
		-DARMCI_NO_MPI -DARMCI_ABI_MPI -DARMCI_MPI_$stand_in "-I$include"
done
symbols_agree
profiling_agrees
fortran classic . -DARMCI_MPI_OPENMPI
fortran openmpi armci-mpi/openmpi "-DARMCI_ABI_MPI -DARMCI_MPI_OPENMPI"
fortran mpich armci-mpi/mpich "-DARMCI_ABI_MPI -DARMCI_MPI_MPICH"
echo "headers: $checks checks, $failed failed"
[ "$failed" -eq 0 ]
