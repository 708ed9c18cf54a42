# SPDX-License-Identifier: BSD-3-Clause
"""Messages and collectives on NumPy arrays. They do not use MPI and cannot be confused with the
program's messages.

They are no fences: see barrier(). One thread at a time.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import group as groups, job
from .errors import Error
from .group import Group
from .library import INT_MAX, REDUCE, SCOPE_ALL, lib

_OPERATORS = {
    "+": "+",
    "sum": "+",
    "*": "*",
    "prod": "*",
    "max": "max",
    "min": "min",
    "absmax": "absmax",
    "absmin": "absmin",
}
_INTEGER_OPERATORS = {"|": "|", "&": "&", "||": "||", "&&": "&&"}
_PARTS = {"complex64": np.float32, "complex128": np.float64}


def bcast(values: Any, root: int = 0, group: Group | None = None) -> np.ndarray:
    """Send an array of the root to all members. Collective(group).

    values: an array that is contiguous, of the same type and shape on every member; the root's is
    read, the others are filled in. root: a rank of the job. Returns: values.
    """
    group = groups.of("bcast", group)
    group._place("bcast", root)
    buffer = _buffer("bcast", values, job.rank() != root)
    lib.armci_msg_group_bcast_scope(
        SCOPE_ALL, buffer.ctypes.data, buffer.nbytes, int(root), group._pointer
    )
    return values


def gop(values: Any, op: str = "+", group: Group | None = None) -> Any:
    """Reduce element by element over all members; every member gets the same result, bit by bit.
    Collective(group).

    values: an array that is contiguous, which is overwritten and returned; or a number, and the
    result is returned. Types: int32, int64, float32, float64; for sums complex64 and complex128.
    op: "+" "*" "max" "min" "absmax" "absmin", for integers "|" "&" "||" "&&". Type, shape and op
    must be the same on every member.
    """
    group = groups.of("gop", group)
    if not isinstance(values, np.ndarray):
        single = np.array([values])
        if single.shape != (1,):
            raise Error("gop", f"values: {type(values).__name__} is no array or number")
        return gop(single, op, group)[0]
    buffer = _buffer("gop", values, True)
    name = buffer.dtype.name
    if name in _PARTS and op in ("+", "sum"):
        buffer = buffer.view(_PARTS[name])
        name = buffer.dtype.name
    known = _OPERATORS | _INTEGER_OPERATORS if buffer.dtype.kind == "i" else _OPERATORS
    if name not in REDUCE or not buffer.dtype.isnative or op not in known:
        raise Error("gop", f"op: {op!r} of {values.dtype} is not known")
    group._reduce(buffer, known[op])
    return values


def send(values: np.ndarray, rank: int, tag: int = 0) -> None:
    """Send an array, which is contiguous, to a rank of the job. Done: it may be reused. A long
    message waits for recv().
    """
    rank = job.world_rank("send", rank)
    buffer = _buffer("send", values, False)
    lib.armci_msg_snd(_tag("send", tag), buffer.ctypes.data, buffer.nbytes, rank)


def recv(values: np.ndarray, rank: int, tag: int = 0) -> int:
    """Receive the next message of a tag from a rank into an array, which is contiguous. Returns:
    bytes received.

    A message that is longer than the array ends the job.
    """
    rank = job.world_rank("recv", rank)
    buffer = _buffer("recv", values, True)
    nbytes = ctypes.c_int()
    lib.armci_msg_rcv(
        _tag("recv", tag), buffer.ctypes.data, buffer.nbytes, ctypes.addressof(nbytes), rank
    )
    return nbytes.value


def _buffer(function: str, values: Any, is_written: bool) -> np.ndarray:
    if not isinstance(values, np.ndarray) or values.dtype.hasobject:
        raise Error(
            function, f"values: {type(values).__name__} is no NumPy array of plain elements"
        )
    if not values.flags.c_contiguous and not values.flags.f_contiguous:
        raise Error(function, "values: the array is not contiguous")
    if is_written and not values.flags.writeable:
        raise Error(function, "values: the array is read-only")
    if values.nbytes > INT_MAX:
        raise Error(function, f"values: {values.nbytes} bytes are more than {INT_MAX}")
    return values.reshape(-1, order="A") if values.ndim else values.reshape(1)


def _tag(function: str, tag: int) -> int:
    if not job.is_integer(tag) or not -INT_MAX - 1 <= tag <= INT_MAX:
        raise Error(function, f"tag: {tag!r} is no C int")
    return int(tag)
