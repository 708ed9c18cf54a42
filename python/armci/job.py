# SPDX-License-Identifier: BSD-3-Clause
"""Start and end of the job, and the caller's place in it. An uncaught exception of one rank ends
all ranks, as `python -m mpi4py.run` does.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors
from .errors import Error, check
from .library import lib

if TYPE_CHECKING:
    from .group import Group

_NEW, _RUNNING, _ENDED, _FORKED = range(4)
_state = _NEW
_rank = 0
_size = 1
_leaders: np.ndarray  # of each rank: the lowest rank of its node
world_group: Group


def init(comm: Any = None) -> None:
    """Start ARMCI over all ranks of the job, or over a communicator of mpi4py. Collective.

    comm: an intracommunicator; it may be freed afterwards. Then rank() is the rank in it. Without
    it, the job is that of armcirun, of an MPI's launcher, or of a batch system; alone, it is a job
    of one rank. Calling init again does nothing. Every function of this package calls init() if
    the program has not; finalize() is called at exit.
    """
    global _state, _rank, _size, _leaders, world_group
    if _state == _FORKED:
        raise Error("init", "a child of fork cannot join the job of its parent")
    if _state == _RUNNING:
        if comm is not None:
            raise Error(
                "init",
                "comm: the job has started already, by init() or the first use of the package",
            )
        return
    if comm is None:
        code = lib.ARMCI_Init()
    else:
        from .mpi import init_communicator

        code = init_communicator(comm)
    check("init", code)
    _state = _RUNNING
    _rank = errors.own_rank = lib.armci_msg_me()
    _size = lib.armci_msg_nproc()
    from .group import Group

    world_group = Group._world()
    _leaders = np.zeros(_size, np.int32)
    _leaders[_rank] = next(r for r in range(_rank + 1) if lib.ARMCI_Same_node(r))
    world_group._reduce(_leaders, "+")
    _install_hooks()


def require(function: str) -> None:
    """Start the job if it does not run yet; Error if it has ended."""
    if _state == _RUNNING:
        return
    if _state == _NEW:
        init()
    elif _state == _FORKED:
        raise Error(function, "a child of fork cannot take part in the job of its parent")
    else:
        raise Error(function, "ARMCI has been finalized")


def running() -> bool:
    return _state == _RUNNING


def initialized() -> bool:
    """Whether the job has started and not ended."""
    return _state == _RUNNING


def rank() -> int:
    """Number of this process in the job, 0 <= rank < size(). The same as in COMM_WORLD, or in the
    communicator of init().
    """
    require("rank")
    return _rank


def size() -> int:
    """Number of processes of the job."""
    require("size")
    return _size


def nodes() -> int:
    """Number of nodes: of sets of ranks that share memory."""
    require("nodes")
    return len(np.unique(_leaders))


def node(rank: int | None = None) -> int:
    """Number of the node of a rank, or of this one, from 0, in the order of the nodes' lowest
    ranks.
    """
    world_rank("node", _rank if rank is None else rank)
    return int(np.searchsorted(np.unique(_leaders), _leaders[_rank if rank is None else rank]))


def same_node(rank: int) -> bool:
    """Whether a rank is on the node of this one."""
    return bool(_leaders[world_rank("same_node", rank)] == _leaders[_rank])


def is_integer(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def world_rank(function: str, rank: int) -> int:
    """The argument, if it is a rank of the job."""
    require(function)
    if is_integer(rank) and 0 <= rank < _size:
        return int(rank)
    raise Error(function, f"rank: {rank!r} is not one of 0..{_size - 1}")


def abort(message: str = "aborted", code: int = 1) -> None:
    """Print one line and end every rank of the job. code: the exit status. Never returns."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    lib.ARMCI_Error(str(message).encode(errors="replace"), code)


def finalize() -> None:
    """End the job. Collective. Called at exit, so few programs need it.

    Done: all of the caller's operations are complete, and all memory is free. Error, on every rank,
    if any rank still has NumPy arrays that are views of shared memory: they would become invalid.
    """
    if _state != _RUNNING:
        return
    from .memory import views

    gc.collect()
    held = np.zeros(_size, np.int32)
    held[_rank] = views()
    world_group._reduce(held, "+")
    if held.any():
        who = int(np.flatnonzero(held)[0])
        raise Error(
            "finalize", f"rank {who} still has {held[who]} views of shared memory, as a.local"
        )
    _end(_ENDED)
    check("finalize", lib.ARMCI_Finalize())


def _end(state: int) -> None:
    global _state
    from .memory import close_all

    close_all()
    _state = state


def _at_exit() -> None:
    if _state == _RUNNING:
        _end(_ENDED)
        lib.ARMCI_Finalize()


def _in_child() -> None:
    if _state == _RUNNING:
        _end(_FORKED)


_hooked = False


def _install_hooks() -> None:
    global _hooked
    if _hooked:
        return
    _hooked = True
    atexit.register(_at_exit)
    os.register_at_fork(after_in_child=_in_child)
    before = sys.excepthook

    def ends_job(kind, value, trace):
        # Python's own hook writes a traceback in many pieces, between those of other ranks.
        if before is sys.__excepthook__:
            sys.stderr.write("".join(traceback.format_exception(kind, value, trace)))
        else:
            before(kind, value, trace)
        if _state == _RUNNING and _size > 1 and not hasattr(sys, "ps1"):
            abort(f"uncaught {kind.__name__}", 1)

    sys.excepthook = ends_job
