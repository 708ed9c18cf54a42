# SPDX-License-Identifier: BSD-3-Clause
"""Shared memory and its lifetime. Memory is freed by all members of a group together, when none of
them can reach it any more.

A member can reach it through a token, which the Array and its remote blocks hold until free();
through NumPy views of it; and through nonblocking calls that have not been waited for. Garbage
collection happens at another time on each rank, so members compare notes whenever one of the
collective calls that allocate or free is made (sweep). So a view never points at freed memory.
"""

from __future__ import annotations

import ctypes
import weakref

import numpy as np

from . import job
from .errors import check
from .group import Group
from .library import lib
from .slices import Owner

_all: weakref.WeakSet[Memory] = weakref.WeakSet()


class Token:
    """Right to make one-sided calls on memory; alive until free() or the end of the job. local: the
    Array's own view, or None.
    """

    __slots__ = ("alive", "local", "__weakref__")

    def __init__(self) -> None:
        self.alive = True
        self.local: np.ndarray | None = None

    def end(self) -> None:
        self.alive = False
        self.local = None


class Memory:
    """One collective allocation. addresses: of each member, by its place in the group. nbytes: of
    each member.
    """

    def __init__(self, group: Group, nbytes: np.ndarray, token: Token):
        self.group = group
        self.nbytes = nbytes
        self.owners: weakref.WeakSet[Owner] = weakref.WeakSet()  # of views
        self.unfinished: set[int] = set()  # handles of nonblocking calls, by id
        self._token = weakref.ref(token)
        pointers = (ctypes.c_void_p * group.size)()
        check(
            "ARMCI_Malloc_group",
            lib.ARMCI_Malloc_group(pointers, int(nbytes[group.rank]), group._pointer),
        )
        self.addresses = [address or 0 for address in pointers]
        group._memories.append(self)
        _all.add(self)

    def view(self, place: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """The memory of a member on this node as a NumPy array; its owner is known, so that the
        memory outlives it.
        """
        if not self.nbytes[place]:
            return np.empty(shape, dtype)
        owner = Owner(self.addresses[place], shape, dtype)
        self.owners.add(owner)
        array = np.asarray(owner)
        return array if array.dtype == dtype else array.view(dtype)

    def held(self) -> int:
        """How many views and unfinished calls of this rank there are."""
        return len(self.owners) + len(self.unfinished)

    def in_use(self) -> bool:
        token = self._token()
        return bool(token is not None and token.alive) or self.held() > 0

    def forget_view(self) -> None:
        token = self._token()
        if token is not None:
            token.local = None

    def close(self) -> None:
        token = self._token()
        if token is not None:
            token.end()

    def release(self) -> None:
        own = self.addresses[self.group.rank]
        check("ARMCI_Free_group", lib.ARMCI_Free_group(own, self.group._pointer))


def sweep(group: Group) -> int:
    """Free what no member can reach. Collective(group). Returns: how many allocations are left."""
    table = group._memories
    if table:
        used = np.array([memory.in_use() for memory in table], np.int32)
        group._reduce(used, "max")
        group._memories = [memory for memory, is_used in zip(table, used) if is_used]
        for memory, is_used in zip(table, used):
            if not is_used:
                memory.release()
    return len(group._memories)


def views() -> int:
    """How many views of the program and unfinished calls of this rank there are."""
    for memory in list(_all):
        memory.forget_view()
    return sum(memory.held() for memory in _all)


def close_all() -> None:
    """The job ends: no more one-sided calls."""
    for memory in list(_all):
        memory.close()
        memory.group._memories = []
        memory.group._places = {}
    job.world_group._places = {}
