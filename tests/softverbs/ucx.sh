#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ucx.sh openmpi|mpich PROGRAM - runs a program of an MPI on two ranks whose messages all take UCX
# over the software device (run by with.sh with SOFTVERBS_UCX=1). Exit status 77: no such UCX here.
set -u
flavour=$1 program=$2 status=0
[ -d /dev/infiniband ] || { echo "SKIP: /dev/infiniband cannot be made"; exit 77; }
export UCX_TLS=rc_v,self OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
case $flavour in
openmpi)
	ompi_info 2>/dev/null | grep -q "pml: ucx" ||
		{ echo "SKIP: an Open MPI without UCX"; exit 77; }
	said=$(mpirun.openmpi --oversubscribe -n 2 --mca pml ucx --mca opal_common_ucx_tls any \
		--mca opal_common_ucx_devices any "$program" 2>&1) || status=$?
	;;
mpich)
	mpichversion | grep -q "ch4:ucx" || { echo "SKIP: an MPICH without UCX"; exit 77; }
	said=$(MPIR_CVAR_NOLOCAL=1 mpiexec.hydra -n 2 "$program" 2>&1) || status=$?
	;;
esac
echo "$said"
case $status$said in
[1-9]*rc_v*"not available"*) echo "SKIP: a UCX that wants more of libmlx5"; exit 77 ;;
esac
exit $status
