#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# debian.sh - programs of others' runtimes from Debian packages over libarmci-mpirma.so, on a node
# and on two pretended nodes: coarrays over OpenCoarrays (both MPIs), mpi4py (Open MPI). BUILD is
# the build directory. What is not installed is skipped, and said.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:?the build directory}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
failed=0 ran=0

# over LAUNCHER COMMAND...: 4 ranks over our library, on one node and on two.
over() {
	launcher=$1
	shift
	for nodes in 1 2; do
		export PRETEND_NODES=$nodes
		# shellcheck disable=SC2086
		if timeout 60 $launcher -n 4 sh "$work/node.sh" "$build/bin/armci-mpirma" "$@"; then
			ran=$((ran + 1))
		else
			echo "FAIL: $* on $nodes nodes: exit $?"
			failed=1
		fi
	done
}

cat >"$work/node.sh" <<'END'
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
[ "$PRETEND_NODES" = 1 ] || export ARMCI_NODE="node$((rank / 2))"
exec "$@"
END

for flavour in openmpi mpich; do
	case $flavour in
	openmpi) launcher="mpirun.openmpi --oversubscribe" ;;
	mpich) launcher=mpiexec.hydra ;;
	esac
	if ! command -v "caf.$flavour" >/dev/null 2>&1; then
		echo "skipped: no caf.$flavour (package libcoarrays-$flavour-dev)"
	elif "caf.$flavour" -O1 "$here/debian/coarray.f90" -o "$work/coarray.$flavour"; then
		over "$launcher" "$work/coarray.$flavour"
	else
		failed=1
	fi
done
if /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then
	over "mpirun.openmpi --oversubscribe" /usr/bin/python3 "$here/debian/windows.py"
else
	echo "skipped: no mpi4py (package python3-mpi4py)"
fi
[ $failed -ne 0 ] || [ $ran -ne 0 ] || exit 77
exit $failed
