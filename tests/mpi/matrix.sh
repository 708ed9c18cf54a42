#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# matrix.sh [ROOT]... - a table in Markdown of what runs under which MPI, for docs/validation.md.
# Each ROOT has a Debian of its own, as mmdebstrap makes it (openmpi-bin, mpich, cmake, procps);
# its MPIs are tried. `/` is this machine, and what is tried without an argument. Programs are those
# that the build has compiled with this machine's MPIs: a newer MPI of the same ABI has to run them
# as they are. What uses mpi_f08 may fail so: that module may differ between versions. Figures count
# tests of ctest; of windows, programs on one node and on two. It mounts in a namespace of its own
# only, as root, and leaves empty directories in a ROOT.
#
#   BUILD=build [MPIS="openmpi mpich"] [MATRIX_LOGS=DIRECTORY] sh tests/mpi/matrix.sh / /srv/trixie
set -u
here=$(cd "$(dirname "$0")" && pwd)
BUILD=$(realpath "${BUILD:-$here/../../build}")
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$BUILD/CMakeCache.txt")
logs=$(realpath -m "${MATRIX_LOGS:-$BUILD/Testing/mpi}")
mkdir -p "$logs"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
export PRTE_ALLOW_RUN_AS_ROOT PRTE_ALLOW_RUN_AS_ROOT_CONFIRM

# inside ROOT COMMAND...: in that system, with the source and the build where they are here.
inside() {
	root=$1
	shift
	[ "$root" != / ] || { "$@"; return; }
	unshare --mount --pid --fork --kill-child sh -c '
		root=$0 source=$1 build=$2
		shift 2
		mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
		mount --rbind /sys "$root/sys" && mount -t tmpfs tmpfs "$root/tmp" || exit
		for tree in "$source" "$build"; do
			mkdir -p "$root$tree" && mount --bind "$tree" "$root$tree" || exit
		done
		exec chroot "$root" "$@"' "$root" "$source" "$BUILD" "$@"
}

# version ROOT MPI: as its launcher says it.
version() {
	case $2 in
	openmpi) inside "$1" mpirun.openmpi --version 2>/dev/null |
		sed -n 's/.*(Open MPI) /Open MPI /p' ;;
	mpich) inside "$1" mpiexec.mpich --version 2>/dev/null |
		sed -n 's/.*Version: */MPICH /p' | head -n 1 ;;
	esac
}

# tried ROOT LOG PATTERN: the tests whose names match run, and write the log.
tried() {
	inside "$1" sh -c 'cd "$0" && ctest -V -j 3 --timeout 300 -R "$1" --no-tests=error' \
		"$BUILD" "$3" >"$logs/$2.log" 2>&1
}

# passed ROOT LOG PATTERN: how many of the tests pass, and the names of those that do not.
passed() {
	tried "$@"
	awk '/ tests? failed out of / { all = $NF; failed = $4 }
		/^[ \t]*[0-9]+ - .*\((Failed|Timeout|SEGFAULT|Not Run)/ {
			names = names (names ? ", " : "") $3 }
		/^[ \t]*[0-9]+ - .*\(Skipped\)/ { skipped++ }
		END { if (all == "" || all == skipped) print "not run"
			else print all - failed " of " all (names ? ": not " names : "") }' \
		"$logs/$2.log"
}

# programs_passed ROOT LOG PATTERN: the same of the programs that these tests run in a row.
programs_passed() {
	tried "$@"
	awk '$2 == "ok" { ok++ }
		$2 == "FAIL" { failed++; sub(".*/", "", $3); bad[$3]++ }
		END { for (name in bad) names = names (names ? ", " : "") name " (" bad[name] ")"
			if (ok + failed == 0) print "not run"
			else print ok + 0 " of " ok + failed (names ? ": not " names : "") }' \
		"$logs/$2.log"
}

echo '| MPI | launcher | system | C programs | C++, Fortran | windows | Global Arrays |'
echo '|---|---|---|---|---|---|---|'
[ $# -gt 0 ] || set -- /
for root in "$@"; do
	system=$(. "$root/etc/os-release" && echo "$PRETTY_NAME")
	for mpi in ${MPIS:-openmpi mpich}; do
		name=$(version "$root" "$mpi")
		[ -n "$name" ] || continue
		case $mpi in
		openmpi) launcher=mpirun ;;
		mpich) launcher=mpiexec.hydra ;;
		esac
		log=$(echo "$name" | tr ' ' -)
		echo "| $name | $launcher | $system |" \
			"$(passed "$root" "$log-c" "^c/[a-z_]*/$mpi/") |" \
			"$(passed "$root" "$log-cxx" "^(cxx|fortran/[a-z_]*)/$mpi") |" \
			"$(programs_passed "$root" "$log-rma" \
				"^rma/$mpi/(n4|2x2)(/more)?\$") |" \
			"$(passed "$root" "$log-ga" "^ga/$mpi\$") |"
	done
done
