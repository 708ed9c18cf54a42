# SPDX-License-Identifier: BSD-3-Clause
"""One-sided communication between Python processes: NumPy arrays in shared memory, read and written
by slices (ARMCI).

    import armci
    a = armci.zeros((4, 6))                     # collective: a block of 4 x 6 doubles on every rank
    a.local[...] = armci.rank()                 # the own block is a NumPy array
    armci.barrier()
    column = a.on(armci.size() - 1)[:, 2]       # any rank's block by slices, without its help

Start it by `armcirun -n 4 python3 program.py`, or by mpirun, mpiexec or srun; alone it is a job of
one rank. docs/python.md says more.
"""

from .array import Array, array, empty, zeros
from .errors import Error
from .group import Group, world
from .handle import Handle, wait_all
from .job import abort, finalize, init, initialized, node, nodes, rank, same_node, size
from .message import bcast, gop, recv, send
from .remote import Remote
from .sync import Mutexes, barrier, fence, notify, wait_notify

__version__ = "0.1.0"
__all__ = [
    "Array", "Error", "Group", "Handle", "Mutexes", "Remote", "abort", "array", "barrier", "bcast",
    "empty", "fence", "finalize", "gop", "init", "initialized", "node", "nodes", "notify", "rank",
    "recv", "same_node", "send", "size", "wait_all", "wait_notify", "world", "zeros",
]  # fmt: skip
