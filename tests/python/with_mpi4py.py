# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py in the same program: imported before or after, a job over a communicator, communicators of
groups, messages of arrays.

    with_mpi4py.py before|after|comm
"""

import sys

import numpy as np

order = sys.argv[1]
if order == "before":
    from mpi4py import MPI
import armci
from check import done, refuses

if order == "comm":  # the ranks in reverse, without the last one where there are more than two
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    part = world.Split(0 if world.rank < max(2, world.size - 1) else MPI.UNDEFINED, -world.rank)
    if part == MPI.COMM_NULL:
        refuses("init", "intracommunicator", armci.init, comm=part)
        sys.exit(0)
    armci.init(comm=part)
    refuses("init", "already", armci.init, comm=part)
    assert (armci.rank(), armci.size()) == (part.rank, part.size)
    part.Free()
armci.init()
if order == "after":
    from mpi4py import MPI
me, size = armci.rank(), armci.size()
right, left = (me + 1) % size, (me - 1) % size
if order != "comm":
    assert (me, size) == (MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size)

comm = armci.world().mpi_comm()
assert (comm.rank, comm.size) == (me, size)
a = armci.array(np.full(10, me + 1.0))
found = np.zeros(10)
comm.Sendrecv(a.local, dest=left, recvbuf=found, source=right)
assert np.array_equal(found, a.on(right)[...])
assert comm.allreduce(me) == armci.gop(me)
half = armci.world().split(me % 2)
assert half.mpi_comm().allgather(me) == half.ranks
comm.Barrier()
a.free()
half.free()
done()
