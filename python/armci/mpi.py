# SPDX-License-Identifier: BSD-3-Clause
"""Handles of mpi4py's communicators, in and out: a pointer with Open MPI and the standard ABI, an
int with MPICH. The only module that imports mpi4py.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from .errors import Error
from .library import lib

if TYPE_CHECKING:
    from mpi4py import MPI


def _word(comm: MPI.Comm):
    """The handle of a communicator, as a variable of ctypes that lies in it."""
    from mpi4py import MPI

    is_pointer = MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_void_p)
    kind = ctypes.c_void_p if is_pointer else ctypes.c_int
    return kind.from_address(MPI._addressof(comm))


def init_communicator(comm: MPI.Comm) -> int:
    """ARMCI_Init_thread_comm; its return code."""
    from mpi4py import MPI

    if not isinstance(comm, MPI.Intracomm) or comm == MPI.COMM_NULL:
        raise Error("init", f"comm: {comm!r} is no intracommunicator of mpi4py")
    return lib.ARMCI_Init_thread_comm(MPI.Query_thread(), _word(comm).value)


def communicator(handle: ctypes.c_int) -> MPI.Intracomm:
    """The communicator of a group, which owns it."""
    from mpi4py import MPI

    comm = MPI.Intracomm()
    word = _word(comm)
    word.value = lib.armci_group_comm(ctypes.addressof(handle))
    return comm
