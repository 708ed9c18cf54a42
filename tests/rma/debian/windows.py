# SPDX-License-Identifier: BSD-3-Clause
# windows.py - a program of mpi4py, which loads MPI out of sight of other libraries: put, get,
# accumulate, tickets.
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
me, np = world.Get_rank(), world.Get_size()
right = (me + 1) % np
memory = array("d", [0.0] * (np + 2))
win = MPI.Win.Create(memory, 8, MPI.INFO_NULL, world)
win.Fence()
win.Put([array("d", [me + 0.5]), MPI.DOUBLE], right, (me, 1, MPI.DOUBLE))
win.Accumulate([array("d", [me + 1.0]), MPI.DOUBLE], 0, (np, 1, MPI.DOUBLE), MPI.SUM)
win.Fence()
left = (me + np - 1) % np
assert memory[left] == left + 0.5, memory
if me == 0:
    assert memory[np] == np * (np + 1) / 2, memory
got = array("d", [-1.0])
win.Lock(right, MPI.LOCK_SHARED)
win.Get([got, MPI.DOUBLE], right, (me, 1, MPI.DOUBLE))
win.Unlock(right)
assert got[0] == me + 0.5, got
ticket, one = array("d", [-1.0]), array("d", [1.0])
win.Lock_all()
win.Fetch_and_op([one, MPI.DOUBLE], [ticket, MPI.DOUBLE], 0, np + 1, MPI.SUM)
win.Unlock_all()
tickets = world.allgather(ticket[0])
assert sorted(tickets) == list(range(np)), tickets
assert win.Get_attr(MPI.WIN_SIZE) == 8 * len(memory)
win.Free()
if me == 0:
    print("ok windows.py (%d ranks)" % np)
