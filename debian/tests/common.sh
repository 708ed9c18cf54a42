# SPDX-License-Identifier: BSD-3-Clause
# Included by the tests of the installed packages, which run in the source tree and may use nothing
# of it but the programs of tests/install. Sets $out, a directory that goes away.
set -eu
programs=$PWD/tests/install
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# says_hello COMMAND...: the program checks its results and says so.
says_hello() {
	"$@" >"$out/said" || { cat "$out/said"; echo "FAIL $*"; exit 1; }
	grep -q '^ *ok hello of 2' "$out/said" || {
		cat "$out/said"
		echo "FAIL $* did not say ok"
		exit 1
	}
	echo "ok $*"
}

# with_mpi FLAVOUR LAUNCHER...: C and Fortran with an MPI's compilers, the interface of ARMCI-MPI,
# and windows.
with_mpi() {
	flavour=$1
	shift
	# shellcheck disable=SC2046
	"mpicc.$flavour" "$programs/hello.c" -o "$out/c" $(pkg-config --cflags --libs armci)
	says_hello "$@" "$out/c"
	# shellcheck disable=SC2046
	"mpifort.$flavour" -J "$out" "$programs/hello.f90" \
		-o "$out/f" $(pkg-config --cflags --libs armci)
	says_hello "$@" "$out/f"
	# shellcheck disable=SC2046
	"mpicc.$flavour" "$programs/hello_mpi.c" -o "$out/abi" \
		$(pkg-config --cflags --libs "armci-mpi-$flavour")
	says_hello "$@" "$out/abi"
	# shellcheck disable=SC2046
	"mpifort.$flavour" -J "$out" "$programs/hello.f90" -o "$out/fabi" \
		$(pkg-config --cflags --libs "armci-mpi-$flavour")
	says_hello "$@" "$out/fabi"
	"mpicc.$flavour" "$programs/hello_windows.c" -o "$out/windows"
	says_hello "$@" armci-mpirma "$out/windows"
}
