# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of which every rank has a block in shared memory."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import group as groups
from .errors import Error
from .group import Group
from .memory import Memory, Token, sweep
from .remote import Remote

_MAX_DIMENSIONS = 32
Shape = "int | Sequence[int]"


class Array:
    """One block of memory for each member of a group, made by zeros(), empty() or array().

    shape: of the caller's own block; blocks of other ranks may have others, see shape_of(). dtype:
    of all blocks. local: the own block, a NumPy array. on(rank): one-sided access to any block.
    near(rank): the block of a rank of this node as a NumPy array.

    Memory is freed when no rank can reach it any more: free() or `with` gives up one-sided access,
    and NumPy views keep the memory alive as long as they live. It is then freed by the next
    zeros(), empty(), array() or free() of the same group, which are collective, or at the end of
    the job.
    """

    def __init__(self) -> None:
        raise Error("Array", "is made by zeros(), empty() or array()")

    @classmethod
    def _of(cls, group: Group, shapes: list[tuple[int, ...]], dtype: np.dtype) -> Array:
        self = object.__new__(cls)
        self.group = group
        self.dtype = dtype
        self.shape = shapes[group.rank]
        self._shapes = shapes
        self._token = Token()
        nbytes = np.array(
            [int(np.prod(shape, dtype=np.int64)) * dtype.itemsize for shape in shapes], np.int64
        )
        self._memory = Memory(group, nbytes, self._token)
        self._blocks: dict[int, Remote] = {}
        return self

    @property
    def local(self) -> np.ndarray:
        """The own block. Other ranks' stores are seen after their fence and a barrier or
        notification.
        """
        token = self._token
        if token.local is None:
            self._require("local")
            token.local = self._memory.view(self.group.rank, self.shape, self.dtype)
        return token.local

    def on(self, rank: int) -> Remote:
        """One-sided access to the block of a rank of the job, which may be the caller. Costs
        nothing the second time.
        """
        block = self._blocks.get(rank) if type(rank) is int else None
        if block is None:
            self._require("on")
            place = self.group._place("on", rank)
            block = self._blocks[int(rank)] = Remote(
                self._memory, self._token, place, self._shapes[place], self.dtype
            )
        return block

    def near(self, rank: int) -> np.ndarray:
        """The block of a rank on the caller's node as a NumPy array: loads and stores need no
        call.
        """
        from .job import same_node

        self._require("near")
        place = self.group._place("near", rank)
        if not same_node(rank):
            raise Error("near", f"rank: {rank} is on another node")
        return self._memory.view(place, self._shapes[place], self.dtype)

    def shape_of(self, rank: int) -> tuple[int, ...]:
        """Shape of the block of a rank."""
        return self._shapes[self.group._place("shape_of", rank)]

    def free(self) -> None:
        """Give up one-sided access. Collective(group). Done: all stores to the array are complete.
        The memory is freed now, or when the last NumPy view of it, on any rank, is gone.
        """
        self._require("free")
        self.group.fence()
        self._token.end()
        self._blocks = {}
        sweep(self.group)

    def _require(self, function: str) -> None:
        if not self._token.alive:
            raise Error(function, "the array has been freed, or its job has ended")

    def __enter__(self) -> Array:
        return self

    def __exit__(self, kind, value, trace) -> None:
        # After an exception of one rank, others may not come.
        if kind is None and self._token.alive:
            self.free()

    def __repr__(self) -> str:
        state = "" if self._token.alive else ", freed"
        return (
            f"<armci.Array {self.dtype}{list(self.shape)} on each of "
            f"{self.group.size} ranks{state}>"
        )


def empty(shape: Shape, dtype: Any = float, group: Group | None = None) -> Array:
    """An array whose elements have no defined values. Collective(group), None meaning all ranks.

    shape: of the caller's block, which may differ between ranks in its extents, not in the number
    of dimensions. dtype: anything that NumPy takes, except Python objects; the same on every rank.
    If one rank gives wrong arguments, every rank gets an Error.
    """
    return _allocate("empty", shape, dtype, group)


def zeros(shape: Shape, dtype: Any = float, group: Group | None = None) -> Array:
    """An array of zeros; otherwise as empty(). Done: all blocks are cleared."""
    new = _allocate("zeros", shape, dtype, group)
    if new.local.nbytes:
        new.local.reshape(-1).view(np.uint8)[...] = 0
    new.group.barrier()
    return new


def array(values: Any, dtype: Any = None, group: Group | None = None) -> Array:
    """An array with a copy of values as its own block; otherwise as empty(). Done: all blocks have
    their values.
    """
    given = np.asarray(values, dtype)
    new = _allocate("array", given.shape, given.dtype, group)
    new.local[...] = given
    new.group.barrier()
    return new


def _allocate(function: str, shape: Any, dtype: Any, group: Group | None) -> Array:
    group = groups.of(function, group)
    wrong: Error | None = None
    extents: tuple[int, ...] = ()
    kind = np.dtype(np.uint8)
    try:
        kind = _dtype(function, dtype)
        extents = _shape(function, shape, kind)
    except Error as error:
        wrong = error
    shapes = _agree(function, group, extents, kind, wrong)
    sweep(group)
    return Array._of(group, shapes, kind)


def _dtype(function: str, dtype: Any) -> np.dtype:
    try:
        kind = np.dtype(dtype)
    except TypeError as error:
        raise Error(function, f"dtype: {error}") from None
    if kind.hasobject or kind.subdtype or kind.itemsize == 0:
        raise Error(function, f"dtype: {kind} cannot be in shared memory")
    return kind


def _shape(function: str, shape: Any, dtype: np.dtype) -> tuple[int, ...]:
    try:
        extents = tuple(int(n) for n in (shape if np.iterable(shape) else (shape,)) if int(n) == n)
        if len(extents) != np.size(shape):
            raise ValueError("not an integer")
    except (TypeError, ValueError, OverflowError):
        raise Error(
            function, f"shape: {shape!r} is not an integer or a sequence of integers"
        ) from None
    count = 1
    for n in extents:
        count *= n
    if (
        min(extents, default=0) < 0
        or len(extents) > _MAX_DIMENSIONS
        or max((*extents, count * dtype.itemsize)) >= 2**62
    ):
        raise Error(function, f"shape: {shape!r} is negative or too large")
    return extents


def _agree(
    function: str, group: Group, shape: tuple, dtype: np.dtype, wrong: Error | None
) -> list[tuple[int, ...]]:
    """The members' shapes; an Error on every member if one has wrong arguments, or another type or
    number of dimensions.
    """
    table = np.zeros((group.size, _MAX_DIMENSIONS + 2), np.int64)
    fingerprint = int.from_bytes(repr(dtype.descr).encode()[-512:], "little") % (2**61 - 1)
    table[group.rank, :2] = -1 if wrong else len(shape), fingerprint
    table[group.rank, 2 : 2 + len(shape)] = shape
    group._reduce(table, "+")
    if wrong:
        raise wrong
    for place, row in enumerate(table):
        if row[0] < 0:
            raise Error(function, f"wrong arguments of rank {group.ranks[place]}")
        if (row[:2] != table[0, :2]).any():
            raise Error(
                function,
                f"dtype or number of dimensions: rank {group.ranks[place]} has others than "
                f"rank {group.ranks[0]}",
            )
    return [tuple(int(n) for n in row[2 : 2 + row[0]]) for row in table]
