#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# cmake.sh - builds Global Arrays by its own CMake files over the installed library, by
# cmake/ga-external-armci.cmake, once static and once shared; runs its tests, and a program that
# finds it by find_package. Then once more as part of another project. GA_SOURCE is a directory with
# Global Arrays' sources; without one there is nothing to test. It must not change that directory.
#
#   GA_SOURCE=... BUILD=... WORK=... CMAKE=... CC_openmpi=... FC_openmpi=... RUN_openmpi=...
#   [GA_TESTS=PATTERN] sh cmake.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "ga/cmake: skipped: $*"; exit 77; }
fail() { echo "ga/cmake: FAILED: $*"; exit 1; }

[ -n "${GA_SOURCE:-}" ] || skip "GA_SOURCE does not say where Global Arrays' sources are"
[ -f "$GA_SOURCE/CMakeLists.txt" ] || fail "GA_SOURCE=$GA_SOURCE has no CMakeLists.txt"
[ -n "${CC_openmpi:-}" ] || skip "no Open MPI"
command -v m4 >/dev/null 2>&1 || skip "no m4, which Global Arrays needs"
# What differs most in what it asks of ARMCI; all of it by GA_TESTS=.
some="testc|elempatch|mtest|nbtestc|ntestc|ghosts|lock|scan_addc|testmatmultc|read_only"
tests=${GA_TESTS-"^($some|unpackc|sprsmatmult)\$"}
# Its tests start four ranks, by a launcher without options.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe

rm -rf "$WORK"
mkdir -p "$WORK"
prefix=$WORK/armci
injected=$prefix/share/libarmci/cmake/ga-external-armci.cmake
"$CMAKE" --install "$BUILD" --prefix "$prefix" >"$WORK/install.log"

is_over_armci() { # PROGRAM
	ldd "$1" | grep -q "libarmci.so.0 => $prefix/" || fail "$1 does not use libarmci.so.0"
}

# over_ga NAME OPTION...: Global Arrays built, tested, installed, and used.
over_ga() {
	name=$1
	shift
	echo "progress: ga/cmake: Global Arrays, $name"
	"$CMAKE" -S "$GA_SOURCE" -B "$WORK/$name" -DCMAKE_BUILD_TYPE=Release \
		-DMPI_C_COMPILER="${CC_openmpi%% *}" -DMPI_Fortran_COMPILER="${FC_openmpi%% *}" \
		-DGA_JOB_LAUNCH_CMD="${RUN_openmpi%% *}" \
		-DENABLE_CXX=OFF -DENABLE_BLAS=OFF -DCMAKE_INSTALL_PREFIX="$WORK/$name-installed" \
		-DCMAKE_PROJECT_GlobalArrays_INCLUDE="$injected" \
		"$@" >"$WORK/$name.log" 2>&1 || { tail -30 "$WORK/$name.log"; fail "cmake, $name"; }
	grep -q "Global Arrays over libarmci .*: $prefix/" "$WORK/$name.log" ||
		fail "$name: CMake does not say which library"
	"$CMAKE" --build "$WORK/$name" -j 2 >"$WORK/$name-build.log" 2>&1 ||
		{ grep -m 20 -i error "$WORK/$name-build.log"; fail "build, $name"; }
	program=$WORK/$name/global/testing/testc.x
	if nm -A "$WORK/$name"/libga.* "$program" 2>/dev/null | grep -q ' T comex_'; then
		fail "$name: ComEx is in Global Arrays"
	fi
	is_over_armci "$program"
	(cd "$WORK/$name" && ctest -j 1 --timeout 300 -R "$tests" --no-tests=error \
		--output-on-failure) >"$WORK/$name-tests.log" 2>&1 ||
		{ tail -40 "$WORK/$name-tests.log"; fail "tests, $name"; }
	grep '% tests passed' "$WORK/$name-tests.log"
	"$CMAKE" --install "$WORK/$name" >>"$WORK/$name-build.log"
	finds_it "$name"
}

# finds_it NAME: a program that knows Global Arrays by find_package alone.
finds_it() {
	"$CMAKE" -S "$here/package" -B "$WORK/$1-user" -DCMAKE_PREFIX_PATH="$WORK/$1-installed" \
		-DCMAKE_C_COMPILER="${CC_openmpi%% *}" >"$WORK/$1-user.log" 2>&1 &&
		"$CMAKE" --build "$WORK/$1-user" >>"$WORK/$1-user.log" 2>&1 ||
		{ tail -20 "$WORK/$1-user.log"; fail "find_package, $1"; }
	uses_it "$1-user"
}

# uses_it NAME: runs the program that was built in the directory NAME of WORK.
uses_it() {
	# shellcheck disable=SC2086 # a command with arguments
	$RUN_openmpi "$WORK/$1/uses_ga" >"$WORK/$1.out" 2>&1 ||
		{ cat "$WORK/$1.out"; fail "its program, $1"; }
	grep -q '^uses_ga: passed on 2 ranks$' "$WORK/$1.out" ||
		{ cat "$WORK/$1.out"; fail "its output, $1"; }
	is_over_armci "$WORK/$1/uses_ga"
}

# embeds_it: a project that adds Global Arrays' sources to its own by FetchContent. It builds linalg
# first and alone, for which Global Arrays does not say what it needs.
embeds_it() {
	echo "progress: ga/cmake: Global Arrays as part of a project"
	"$CMAKE" -S "$here/embedded" -B "$WORK/embedded" -DGA_SOURCE="$GA_SOURCE" \
		-DMPI_C_COMPILER="${CC_openmpi%% *}" -DMPI_Fortran_COMPILER="${FC_openmpi%% *}" \
		-DENABLE_CXX=OFF -DENABLE_BLAS=OFF \
		-DCMAKE_PROJECT_GlobalArrays_INCLUDE="$injected" >"$WORK/embedded.log" 2>&1 &&
		"$CMAKE" --build "$WORK/embedded" -j 2 --target linalg \
			>>"$WORK/embedded.log" 2>&1 &&
		"$CMAKE" --build "$WORK/embedded" -j 2 --target uses_ga \
			>>"$WORK/embedded.log" 2>&1 ||
		{ tail -30 "$WORK/embedded.log"; fail "Global Arrays as part of a project"; }
	if nm "$WORK/embedded/uses_ga" | grep -q ' T comex_'; then
		fail "ComEx is in the program of a project with Global Arrays"
	fi
	uses_it embedded
}

over_ga static
over_ga shared -DBUILD_SHARED_LIBS=ON
embeds_it
echo "ga/cmake: passed"
