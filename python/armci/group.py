# SPDX-License-Identifier: BSD-3-Clause
"""Groups of ranks, over which arrays are allocated and collective calls are made."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import job
from .errors import Error, check
from .library import REDUCE, SCOPE_ALL, lib

if TYPE_CHECKING:
    from .memory import Memory


class Group:
    """Some ranks of the job, made by Group.create() or split(). One-sided calls always name ranks
    of the job: see ranks.

    rank: place of this process in the group. ranks: the members' ranks in the job, by place. size:
    their number.
    """

    rank: int
    ranks: list[int]

    def __init__(self) -> None:
        raise Error("Group", "is made by Group.create(), split() or world()")

    @classmethod
    def _of(cls, handle: ctypes.c_int) -> Group:
        self = object.__new__(cls)
        self._handle = handle
        self._pointer = ctypes.addressof(handle)
        self._memories: list[Memory] = []  # what is allocated, in the same order on every member
        number = ctypes.c_int()
        lib.ARMCI_Group_rank(self._pointer, ctypes.addressof(number))
        self.rank = number.value
        lib.ARMCI_Group_size(self._pointer, ctypes.addressof(number))
        self.ranks = [lib.ARMCI_Absolute_id(self._pointer, i) for i in range(number.value)]
        self._places: dict[int, int] = {world: place for place, world in enumerate(self.ranks)}
        return self

    @classmethod
    def _world(cls) -> Group:
        handle = ctypes.c_int()
        lib.ARMCI_Group_get_world(ctypes.addressof(handle))
        return cls._of(handle)

    @classmethod
    def create(cls, ranks: Sequence[int]) -> Group | None:
        """A group of the ranks listed, in ascending order. Collective over these; None for other
        ranks, which need not call it.
        """
        job.require("Group.create")
        wanted = [job.world_rank("Group.create", r) for r in ranks]
        if wanted != sorted(set(wanted)):
            raise Error("Group.create", f"ranks: {wanted} are not ascending and distinct")
        if job.rank() not in wanted:
            return None
        handle, members = ctypes.c_int(), (ctypes.c_int * len(wanted))(*wanted)
        lib.ARMCI_Group_create_child(
            len(wanted), members, ctypes.addressof(handle), world()._pointer
        )
        return cls._of(handle)

    def split(self, color: int, key: int = 0) -> Group | None:
        """Split the group into groups of equal color; None for a negative color. Collective.

        key: order of the members, among equal keys as in this group.
        """
        self._require("split")
        handle = ctypes.c_int()
        check("split", lib.ARMCIX_Group_split(self._pointer, color, key, ctypes.addressof(handle)))
        new = self._of(handle)
        return None if color < 0 else new

    @property
    def size(self) -> int:
        return len(self.ranks)

    def barrier(self) -> None:
        """Complete all stores to members, and wait for the members: then each sees all stores of
        each. Collective.
        """
        self._require("barrier")
        lib.ARMCI_GroupFence(self._pointer)
        lib.armci_msg_group_barrier(self._pointer)

    def fence(self) -> None:
        """Wait until all stores of this rank to members are complete. Not collective."""
        self._require("fence")
        lib.ARMCI_GroupFence(self._pointer)

    def mpi_comm(self) -> Any:
        """The group's communicator of mpi4py, ranks in the same order; it belongs to the group.
        Collective the first time.
        """
        self._require("mpi_comm")
        from .mpi import communicator

        return communicator(self._handle)

    def free(self) -> None:
        """Free the group. Collective. Error, on every member, if memory of it is still in use on
        any.
        """
        self._require("free")
        if self is job.world_group:
            raise Error("free", "the group of all ranks cannot be freed")
        from .memory import sweep

        if sweep(self):
            raise Error("free", "arrays of the group are still in use")
        self._places = {}
        lib.ARMCI_Group_free(self._pointer)

    def __contains__(self, rank: int) -> bool:
        return rank in self._places

    def __repr__(self) -> str:
        return f"<armci.Group {self.ranks}>"

    def __enter__(self) -> Group:
        return self

    def __exit__(self, kind, value, trace) -> None:
        if kind is None:
            self.free()

    def _require(self, function: str) -> None:
        job.require(function)
        if not self._places:
            raise Error(function, "the group has been freed, or belongs to an earlier job")

    def _place(self, function: str, rank: int) -> int:
        """Place of a rank of the job in the group."""
        place = self._places.get(rank) if job.is_integer(rank) else None
        if place is None:
            self._require(function)
            raise Error(function, f"rank: {rank!r} is not one of {_some(self.ranks)}")
        return place

    def _reduce(self, values: np.ndarray, operator: str) -> None:
        lib.armci_msg_group_gop_scope(
            SCOPE_ALL,
            values.ctypes.data,
            values.size,
            operator.encode(),
            REDUCE[values.dtype.name],
            self._pointer,
        )


def _some(ranks: list[int]) -> str:
    if ranks == list(range(len(ranks))):
        return f"0..{len(ranks) - 1}"
    return str(ranks) if len(ranks) <= 16 else f"the {len(ranks)} ranks of the group"


def world() -> Group:
    """The group of all ranks."""
    job.require("world")
    return job.world_group


def of(function: str, group: Group | None) -> Group:
    """The group of an argument, None meaning all ranks."""
    if group is None:
        job.require(function)
        return job.world_group
    if not isinstance(group, Group):
        raise Error(function, f"group: {group!r} is no armci.Group")
    group._require(function)
    return group
