# SPDX-License-Identifier: BSD-3-Clause
"""Access by lists of indices: many single elements in one vector call."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import values as checked
from .errors import Error, check
from .library import INT_MAX, Vector, lib
from .slices import address


class Lists:
    """What Remote can do with elements anywhere in the block. indices: integers, positions in the
    flattened block, as numpy.take has them (negative ones count from the end); or a tuple of one
    array per dimension, as numpy.ravel_multi_index has them.
    """

    __slots__ = ()

    def take(self, indices: Any) -> np.ndarray:
        """Load elements. Returns: an array of the shape of the indices. Done: the data has arrived
        on return.
        """
        places = self._places("take", indices)
        result = np.empty(places.shape, self.dtype)
        self._vector("ARMCI_GetV", lib.ARMCI_GetV, (), places, result, True)
        return result

    def put_at(self, indices: Any, values: Any) -> None:
        """Store elements; values as put. Of several values for one element one is stored.
        Completion as put.
        """
        places = self._places("put_at", indices)
        values = np.ascontiguousarray(checked.of_shape("put_at", values, self.dtype, places.shape))
        self._vector("ARMCI_PutV", lib.ARMCI_PutV, (), places, values, False)

    def add_at(self, indices: Any, values: Any, scale: Any = 1) -> None:
        """Accumulate elements; values, types and completion as add. An index that is repeated
        counts each time.
        """
        places = self._places("add_at", indices)
        scaled = self._scaled("add_at", scale)
        values = np.ascontiguousarray(checked.of_shape("add_at", values, self.dtype, places.shape))
        self._vector("ARMCI_AccV", lib.ARMCI_AccV, scaled, places, values, False)

    def _places(self, function: str, indices: Any) -> np.ndarray:
        """Positions in the flattened block, in range."""
        self._require(function)
        try:
            if isinstance(indices, tuple):
                return np.asarray(np.ravel_multi_index(indices, self.shape))
            places = np.asarray(indices)
            if places.size == 0 and not isinstance(indices, np.ndarray):
                places = places.astype(np.intp)
            if places.dtype.kind not in "iu":
                raise TypeError(f"{places.dtype} is no type of integers")
        except (TypeError, ValueError) as error:
            raise Error(function, f"indices: {error}") from None
        size = self._block.size
        if places.size and (places.min() < -size or places.max() >= size):
            raise Error(function, f"indices: one is out of range of {size} elements")
        return np.where(places < 0, places + size, places)

    def _vector(
        self,
        name: str,
        call: Any,
        first: tuple,
        places: np.ndarray,
        local: np.ndarray,
        is_get: bool,
    ) -> None:
        item = self.dtype.itemsize
        step = max(1, INT_MAX // max(item, 1) // 2)
        remote = (places.reshape(-1).astype(np.uint64) * np.uint64(item)) + np.uint64(
            address(self._block)
        )
        own = np.arange(places.size, dtype=np.uint64) * np.uint64(item) + np.uint64(address(local))
        for begin in range(0, places.size, step):
            r, l = remote[begin : begin + step], own[begin : begin + step]
            source, target = (r, l) if is_get else (l, r)
            vector = Vector(address(source), address(target), len(r), item)
            check(name, call(*first, ctypes.addressof(vector), 1, self.rank))
