# SPDX-License-Identifier: BSD-3-Clause
"""From NumPy's slices to ARMCI's strides and counts. Nothing here communicates.

NumPy itself translates an index: a remote block is described by an array that has the block's
address, shape and strides. Its memory is never read or written, since it may be that of another
node; so an index that would make NumPy read it is refused, and every index gets an Ellipsis, since
without one NumPy reads where a single element is selected.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, Iterator

import numpy as np

from .errors import Error
from .library import INT_MAX, MAX_STRIDE_LEVELS

_PLACEHOLDER = 64  # address of blocks without memory; nothing is ever transferred there
_is_plain = {int, slice, type(Ellipsis), type(None)}.__contains__


class Owner:
    """What NumPy asks for an array's memory, and keeps as long as the array or a view of it
    lives.
    """

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
    """block[index] as a view, also of one element, by NumPy's rules for integers, slices, Ellipsis
    and None.
    """
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
    raise Error(
        function,
        f"index: {index!r} is no integer, slice, Ellipsis or None; "
        "lists of indices are for take and put_at",
    )


_char, _addressof = ctypes.c_char.from_buffer, ctypes.addressof
_origins = [(*(0,) * n, ...) for n in range(65)]


def address(array: np.ndarray) -> int:
    """Address of the first element."""
    try:  # several times faster than asking NumPy
        return _addressof(_char(array[_origins[array.ndim]]))
    except (TypeError, ValueError, IndexError, BufferError):
        # Read-only, empty, or of a type without a buffer.
        return array.__array_interface__["data"][0]


def upright(remote: np.ndarray, local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both sides turned around where the remote strides are negative."""
    if min(remote.strides, default=0) >= 0:
        return remote, local
    turns = (*(slice(None, None, -1 if stride < 0 else None) for stride in remote.strides), ...)
    return remote[turns], local[turns]


def is_upright(local: np.ndarray) -> bool:
    """Whether all strides that count are positive, so that ARMCI can take the array from where it
    is.
    """
    if local.size == 0 or min(local.strides, default=1) > 0:
        return True
    return all(stride > 0 for stride, n in zip(local.strides, local.shape) if n > 1)


def transfers(remote: np.ndarray, local: np.ndarray, int_max: int = INT_MAX) -> Iterator[tuple]:
    """The strided calls that move between two arrays of one shape, with positive strides only:
    tuples of remote address, remote strides, local address, local strides, counts, and number of
    stride levels.

    It is one call, unless a stride, a count or a row is beyond a C int, or there are too many
    levels.
    """
    if remote.size == 0:
        return
    call = _call(remote.shape, remote.strides, local.strides, remote.itemsize, int_max)
    if call:
        remote_strides, local_strides, counts, levels = call
        yield address(remote), remote_strides, address(local), local_strides, counts, levels
        return
    axis = max(
        (stride, axis) for axis, stride in enumerate(remote.strides) if remote.shape[axis] > 1
    )[1]
    half = remote.shape[axis] // 2
    for part in (slice(None, half), slice(half, None)):
        index = (slice(None),) * axis + (part, ...)
        yield from transfers(remote[index], local[index], int_max)


@lru_cache(maxsize=1024)
def _call(shape: tuple, remote: tuple, local: tuple, itemsize: int, int_max: int) -> tuple | None:
    """Strides, counts and levels of one call, the first three as C ints; None if one call cannot do
    it.
    """
    row, levels = _levels(shape, remote, local, itemsize)
    if (
        row > int_max
        or len(levels) > MAX_STRIDE_LEVELS
        or any(max(level) > int_max for level in levels)
    ):
        return None
    ints = ctypes.c_int * max(len(levels), 1)
    counts = (ctypes.c_int * (len(levels) + 1))(row, *(level[2] for level in levels))
    return (
        ints(*(level[0] for level in levels)),
        ints(*(level[1] for level in levels)),
        counts,
        len(levels),
    )


def _levels(
    shape: tuple, remote: tuple, local: tuple, itemsize: int
) -> tuple[int, list[list[int]]]:
    """Bytes of a row that is contiguous on both sides, and levels of [remote stride, local stride,
    count], merged.
    """
    row = itemsize
    levels: list[list[int]] = []
    for r, l, n in sorted(zip(remote, local, shape)):
        if n == 1:
            continue
        if not levels and r == row and l == row:
            row *= n
        elif levels and r == levels[-1][0] * levels[-1][2] and l == levels[-1][1] * levels[-1][2]:
            levels[-1][2] *= n
        else:
            levels.append([r, l, n])
    return row, levels
