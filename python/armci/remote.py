# SPDX-License-Identifier: BSD-3-Clause
"""One-sided access to the block of one rank: slices by get, put and add, blocking or not."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import slices, values as checked
from .atomics import Atomics
from .errors import Error, check
from .handle import Handle
from .library import ACCUMULATE, INT_MAX, lib
from .slices import select
from .vector import Lists

if TYPE_CHECKING:
    from .memory import Memory, Token

_char, _addressof = ctypes.c_char.from_buffer, ctypes.addressof


class Remote(Atomics, Lists):
    """The block of one rank of an Array, made by Array.on(rank). No call needs the help of that
    rank.

    rank, shape, dtype: of the block. index: integers, slices with any step, Ellipsis and None, by
    NumPy's rules (a slice beyond the end is cut, an integer beyond it is an Error). Blocking stores
    are locally done on return: the values may be reused. They are seen by all ranks after fence()
    or a barrier. A get sees all earlier stores of the caller to that rank. Any thread.
    """

    __slots__ = ("rank", "shape", "dtype", "_memory", "_token", "_block", "_acc", "_one", "_word")

    def __init__(
        self, memory: Memory, token: Token, place: int, shape: tuple[int, ...], dtype: np.dtype
    ):
        self.rank = memory.group.ranks[place]
        self.shape = shape
        self.dtype = dtype
        self._memory = memory
        self._token = token
        self._block = slices.describe(memory.addresses[place], shape, dtype)
        self._acc = ACCUMULATE.get(dtype.name) if dtype.isnative else None
        self._one = (
            (ctypes.c_char * dtype.itemsize).from_buffer_copy(np.ones(1, dtype))
            if self._acc
            else None
        )
        self._word = (
            dtype.itemsize
            if dtype.kind in "iu" and dtype.itemsize in (4, 8) and dtype.isnative
            else 0
        )

    def _require(self, function: str) -> None:
        if not self._token.alive:
            raise Error(function, "the array has been freed, or its job has ended")

    # ---- get

    def __getitem__(self, index: Any) -> Any:
        return self.get(index)

    def get(self, index: Any = ..., out: np.ndarray | None = None) -> Any:
        """Load a slice. Returns: a new array, a scalar if index selects one element, or out, which
        must have the slice's type and shape. Done: the data has arrived on return.
        """
        self._require("get")
        remote = select("get", self._block, index)
        if out is None:
            result = np.empty(remote.shape, self.dtype)
        else:
            result = checked.destination("get", out, self.dtype, remote.shape)
        try:  # contiguous on both sides: one call
            source, target = _addressof(_char(remote)), _addressof(_char(result))
            nbytes = result.nbytes
        except (TypeError, ValueError, BufferError):
            self._get(remote, result)
        else:
            if nbytes <= INT_MAX:
                code = lib.ARMCI_Get(source, target, nbytes, self.rank)
                if code:
                    check("ARMCI_Get", code)
            else:
                self._get(remote, result)
        return result if out is not None or result.ndim else result[()]

    def _get(self, remote: np.ndarray, result: np.ndarray) -> None:
        remote, target = slices.upright(remote, result)
        direct = slices.is_upright(target)
        buffer = target if direct else np.empty(remote.shape, self.dtype)
        for r, r_strides, l, l_strides, counts, levels in slices.transfers(remote, buffer):
            check(
                "ARMCI_GetS", lib.ARMCI_GetS(r, r_strides, l, l_strides, counts, levels, self.rank)
            )
        if not direct:
            target[...] = buffer

    def nbget(self, index: Any = ..., out: np.ndarray | None = None) -> Handle:
        """Nonblocking get. Returns: a handle; its wait() returns the array, always an array. out:
        its strides must be positive where those of the slice are, and must be negative where they
        are negative.
        """
        self._require("nbget")
        remote = select("nbget", self._block, index)
        if out is None:
            result = np.empty(remote.shape, self.dtype)
            if min(remote.strides, default=0) < 0:  # the data arrives the other way round
                result = slices.upright(remote, result)[1]
        else:
            result = checked.destination("nbget", out, self.dtype, remote.shape)
        remote, target = slices.upright(remote, result)
        if not slices.is_upright(target):
            raise Error(
                "nbget", "out: a stride is negative where that of the slice is not, or the reverse"
            )
        handle = Handle(self._memory, target, result)
        for r, r_strides, l, l_strides, counts, levels in slices.transfers(remote, target):
            check("ARMCI_NbGetS", lib.ARMCI_NbGetS(
                r, r_strides, l, l_strides, counts, levels, self.rank,
                _addressof(handle._hdl)))  # fmt: skip
        return handle

    # ---- put

    def __setitem__(self, index: Any, values: Any) -> None:
        self.put(index, values)

    def put(self, index: Any, values: Any) -> None:
        """Store values into a slice. values: an array of the block's type, or numbers; broadcast to
        the slice by NumPy's rules. Done: locally on return; remotely after fence() or a barrier.
        """
        self._require("put")
        remote = select("put", self._block, index)
        values = checked.of_shape("put", values, self.dtype, remote.shape)
        try:  # contiguous on both sides: one call
            source, target = _addressof(_char(values)), _addressof(_char(remote))
            nbytes = values.nbytes
        except (TypeError, ValueError, BufferError):
            nbytes = INT_MAX + 1
        if nbytes <= INT_MAX:
            check("ARMCI_Put", lib.ARMCI_Put(source, target, nbytes, self.rank))
            return
        remote, values = self._upright(remote, values)
        for r, r_strides, l, l_strides, counts, levels in slices.transfers(remote, values):
            check(
                "ARMCI_PutS", lib.ARMCI_PutS(l, l_strides, r, r_strides, counts, levels, self.rank)
            )

    def nbput(self, index: Any, values: Any) -> Handle:
        """Nonblocking put. Do not change the values before wait() or test() says that it is
        done.
        """
        self._require("nbput")
        remote = select("nbput", self._block, index)
        values = checked.of_shape("nbput", values, self.dtype, remote.shape)
        remote, values = self._upright(remote, values)
        handle = Handle(self._memory, values, None)
        for r, r_strides, l, l_strides, counts, levels in slices.transfers(remote, values):
            check("ARMCI_NbPutS", lib.ARMCI_NbPutS(
                l, l_strides, r, r_strides, counts, levels, self.rank,
                _addressof(handle._hdl)))  # fmt: skip
        return handle

    @staticmethod
    def _upright(remote: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Both sides turned so that all strides are positive; the values are copied where that
        needs it.
        """
        remote, values = slices.upright(remote, values)
        return (
            remote,
            values
            if slices.is_upright(values)
            else np.ascontiguousarray(values).reshape(remote.shape),
        )

    # ---- accumulate

    def add(self, index: Any, values: Any, scale: Any = 1) -> None:
        """slice += scale * values; each element atomically with respect to all other adds, of any
        rank, but not to puts. For int32, int64, float32, float64, complex64 and complex128. Values
        and completion as put.
        """
        kind, factor, remote, values = self._accumulate("add", index, values, scale)
        for r, r_strides, l, l_strides, counts, levels in slices.transfers(remote, values):
            check("ARMCI_AccS", lib.ARMCI_AccS(
                kind, factor, l, l_strides, r, r_strides, counts, levels, self.rank))  # fmt: skip

    def nbadd(self, index: Any, values: Any, scale: Any = 1) -> Handle:
        """Nonblocking add. Do not change the values before wait() or test() says that it is
        done.
        """
        kind, factor, remote, values = self._accumulate("nbadd", index, values, scale)
        handle = Handle(self._memory, values, None)
        for r, r_strides, l, l_strides, counts, levels in slices.transfers(remote, values):
            check("ARMCI_NbAccS", lib.ARMCI_NbAccS(
                kind, factor, l, l_strides, r, r_strides, counts, levels, self.rank,
                _addressof(handle._hdl)))  # fmt: skip
        return handle

    def _accumulate(self, function: str, index: Any, values: Any, scale: Any) -> tuple:
        self._require(function)
        kind, factor = self._scaled(function, scale)
        remote = select(function, self._block, index)
        values = checked.of_shape(function, values, self.dtype, remote.shape)
        return kind, factor, *self._upright(remote, values)

    def _scaled(self, function: str, scale: Any) -> tuple[int, ctypes.Array]:
        """The element type of ARMCI, and the scale as one element."""
        if self._acc is None:
            raise Error(
                function,
                f"elements of {self.dtype} cannot be accumulated: {', '.join(ACCUMULATE)} can",
            )
        if type(scale) is int and scale == 1:
            return self._acc, self._one
        element = checked.of_type(function, scale, self.dtype, "scale")
        if element.size != 1:
            raise Error(function, "scale: is not one number")
        return self._acc, (ctypes.c_char * self.dtype.itemsize).from_buffer_copy(element)

    def fence(self) -> None:
        """Wait until all stores of the caller to this rank, of any array, are remotely done."""
        self._require("fence")
        lib.ARMCI_Fence(self.rank)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """numpy.asarray(block) is a copy of the block."""
        return np.asarray(self.get(), dtype)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a block without dimensions")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<armci block of rank {self.rank}: {self.dtype}{list(self.shape)}>"
