# SPDX-License-Identifier: BSD-3-Clause
"""From NumPy's slices to ARMCI's strides and counts. Nothing here communicates.

NumPy itself translates an index: a remote block is described by an array that has the block's address, shape and strides. Its
memory is never read or written, since it may be that of another node; so an index that would make NumPy read it is refused,
and every index gets an Ellipsis, since without one NumPy reads where a single element is selected.
"""

from __future__ import annotations

import ctypes
from typing import Any, Iterator, NamedTuple

import numpy as np

from .errors import Error
from .library import INT_MAX, MAX_STRIDE_LEVELS

_PLACEHOLDER = 64  # address of blocks without memory; nothing is ever transferred there
_is_plain = {int, slice, type(Ellipsis), type(None)}.__contains__


class Owner:
    """What NumPy asks for an array's memory, and keeps as long as the array or a view of it lives."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: np.dtype):
        self.__array_interface__ = {
            "data": (address or _PLACEHOLDER, False),
            "shape": shape,
            "typestr": dtype.str if dtype.names is None else f"|V{dtype.itemsize}",
            "version": 3,
        }


def describe(address: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array that stands for memory at an address, to be indexed by select() only."""
    return np.asarray(Owner(address, shape, dtype))


def select(function: str, block: np.ndarray, index: Any) -> np.ndarray:
    """block[index] as a view, also of one element, by NumPy's rules for integers, slices, Ellipsis and None."""
    if type(index) is int:
        index = (index, ...)
    elif type(index) is not tuple:
        index = (_plain(function, index), ...) if index is not Ellipsis else index
    else:
        if not all(map(_is_plain, map(type, index))):
            index = tuple(_plain(function, i) for i in index)
        if ... not in index:
            index = (*index, ...)
    try:
        return block[index]
    except (IndexError, ValueError, TypeError) as error:
        raise Error(function, f"index: {error}") from None


def _plain(function: str, index: Any) -> Any:
    if _is_plain(type(index)):
        return index
    if isinstance(index, np.integer):
        return int(index)
    raise Error(function, f"index: {index!r} is no integer, slice, Ellipsis or None; lists of indices are for take and put_at")


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def upright(remote: np.ndarray) -> tuple[tuple, bool]:
    """The index that turns negative strides around, for both sides, and whether there are any."""
    turns = tuple(slice(None, None, -1 if stride < 0 else None) for stride in remote.strides)
    return (*turns, ...), any(stride < 0 for stride in remote.strides)


def is_upright(local: np.ndarray) -> bool:
    """Whether all strides that count are positive, so that ARMCI can take the array from where it is."""
    return all(stride > 0 for stride, n in zip(local.strides, local.shape) if n > 1)


class Transfer(NamedTuple):
    """Arguments of one strided call. The three arrays are C ints."""

    remote: int
    remote_strides: ctypes.Array
    local: int
    local_strides: ctypes.Array
    counts: ctypes.Array
    levels: int


def transfers(remote: np.ndarray, local: np.ndarray, int_max: int = INT_MAX) -> Iterator[Transfer]:
    """The strided calls that move between two arrays of one shape, all of whose strides are positive.

    It is one call, unless a stride, a count or a row is beyond a C int, or there are too many levels.
    """
    if remote.size == 0:
        return
    row, levels = _levels(remote, local, int_max)
    if _fits(row, levels, int_max):
        count = len(levels)
        ints = ctypes.c_int * max(count, 1)
        yield Transfer(
            address(remote), ints(*(level[0] for level in levels)),
            address(local), ints(*(level[1] for level in levels)),
            (ctypes.c_int * (count + 1))(row, *(level[2] for level in levels)), count,
        )  # fmt: skip
        return
    axis = max((stride, axis) for axis, stride in enumerate(remote.strides) if remote.shape[axis] > 1)[1]
    half = remote.shape[axis] // 2
    for part in (slice(None, half), slice(half, None)):
        index = (slice(None),) * axis + (part, ...)
        yield from transfers(remote[index], local[index], int_max)


def _levels(remote: np.ndarray, local: np.ndarray, int_max: int) -> tuple[int, list[list[int]]]:
    """Bytes of a row that is contiguous on both sides, and levels of [remote stride, local stride, count], merged."""
    row = remote.itemsize
    levels: list[list[int]] = []
    for r, l, n in sorted(zip(remote.strides, local.strides, remote.shape)):
        if n == 1:
            continue
        if not levels and r == row and l == row:
            row *= n
        elif levels and r == levels[-1][0] * levels[-1][2] and l == levels[-1][1] * levels[-1][2]:
            levels[-1][2] *= n
        else:
            levels.append([r, l, n])
    return row, levels


def _fits(row: int, levels: list[list[int]], int_max: int) -> bool:
    return row <= int_max and len(levels) <= MAX_STRIDE_LEVELS and all(max(level) <= int_max for level in levels)
