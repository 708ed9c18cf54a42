# SPDX-License-Identifier: BSD-3-Clause
"""Atomic operations on one element of a block. They are atomic with respect to each other, not to
put and add.
"""

from __future__ import annotations

import ctypes
import operator
import sys
from typing import Any

from . import library
from .errors import Error, check
from .library import lib
from .slices import address, select


class Atomics:
    """What Remote can do with one element of int32, int64, uint32 or uint64. index must select one
    element.

    Each returns the value before. Done: on return, on both sides. Integers wrap. Any thread.
    """

    __slots__ = ()

    def fetch_add(self, index: Any, value: int = 1) -> int:
        """Add to an element."""
        return self._atomic("fetch_add", library.ATOMIC_ADD, index, value)

    def fetch_and(self, index: Any, value: int) -> int:
        """Bitwise and of an element and a value."""
        return self._atomic("fetch_and", library.ATOMIC_AND, index, value)

    def fetch_or(self, index: Any, value: int) -> int:
        """Bitwise or of an element and a value."""
        return self._atomic("fetch_or", library.ATOMIC_OR, index, value)

    def fetch_xor(self, index: Any, value: int) -> int:
        """Bitwise exclusive or of an element and a value."""
        return self._atomic("fetch_xor", library.ATOMIC_XOR, index, value)

    def swap(self, index: Any, value: int) -> int:
        """Replace an element."""
        return self._atomic("swap", library.ATOMIC_SWAP, index, value)

    def compare_swap(self, index: Any, expected: int, value: int) -> int:
        """Replace an element if it equals `expected`; it did if the result equals it."""
        return self._atomic("compare_swap", library.ATOMIC_CAS, index, value, expected)

    def _atomic(
        self, function: str, operation: int, index: Any, value: Any, expected: Any = 0
    ) -> int:
        self._require(function)
        size = self._word
        if not size:
            raise Error(
                function,
                f"elements of {self.dtype} have no atomic operations: "
                "int32, int64, uint32 and uint64 have",
            )
        remote = select(function, self._block, index)
        if remote.size != 1:
            raise Error(function, f"index: selects {remote.size} elements, not one")
        signed = self.dtype.kind == "i"
        words = bytearray()  # the value before, the operand, what is compared
        for word in (0, value, expected):
            try:
                words += operator.index(word).to_bytes(size, sys.byteorder, signed=signed)
            except (TypeError, OverflowError):
                raise Error(
                    function, f"value: {word!r} is no integer in the range of {self.dtype}"
                ) from None
        local = ctypes.addressof(ctypes.c_char.from_buffer(words))
        check("ARMCIX_Atomic", lib.ARMCIX_Atomic(
            operation, size, local, address(remote), local + size, local + 2 * size,
            self.rank))  # fmt: skip
        return int.from_bytes(words[:size], sys.byteorder, signed=signed)
