#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pretend.sh NODES RANKS COMMAND [ARGUMENT]... - run by an MPI launcher for each rank: as
# `armcirun -nodes` does, divides the ranks into blocks that take each other for other hosts; with
# HOSTS_MAP=cyclic in turn.
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:?no rank of Open MPI or MPICH}}
ARMCI_NODE=node$((rank * $1 / $2))
[ "${HOSTS_MAP:-block}" = block ] || ARMCI_NODE=node$((rank % $1))
export ARMCI_NODE
shift 2
exec "$@"
