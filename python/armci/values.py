# SPDX-License-Identifier: BSD-3-Clause
"""Values that a user hands over, as arrays of the right type and shape; or an Error."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .errors import Error


def of_type(function: str, values: Any, dtype: np.dtype, argument: str = "values") -> np.ndarray:
    """Values as an array of a type. An array must have that type; numbers and lists are converted
    if nothing is lost.
    """
    if isinstance(values, np.ndarray) and values.ndim:
        if values.dtype != dtype:
            raise Error(
                function,
                f"{argument}: dtype {values.dtype} is not {dtype}; convert them by astype",
            )
        return values
    kind = type(values)
    if (
        (kind is float or kind is int)
        and dtype.kind in "fc"
        or kind is int
        and dtype.kind in "iu"
        and values in _range(dtype)
    ):
        return np.array(values, dtype)
    try:
        given = np.asarray(values)
        # Two integers may differ in their sign: each value is checked.
        both_integers = given.dtype.kind in "iu" and dtype.kind in "iu"
        if not both_integers and not np.can_cast(given.dtype, dtype, "same_kind"):
            raise TypeError(f"{given.dtype} cannot become {dtype} without loss")
        converted = np.array(values, dtype)
        if dtype.kind in "iu" and not np.array_equal(converted, given):
            raise OverflowError(f"a value is out of range of {dtype}")
        return converted
    except (TypeError, ValueError, OverflowError) as error:
        raise Error(function, f"{argument}: {error}") from None


@lru_cache
def _range(dtype: np.dtype) -> range:
    limits = np.iinfo(dtype)
    return range(int(limits.min), int(limits.max) + 1)


def of_shape(function: str, values: Any, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Values as an array of a type and shape; they are repeated by NumPy's rules of
    broadcasting.
    """
    array = (
        values
        if type(values) is np.ndarray and values.dtype is dtype
        else of_type(function, values, dtype)
    )
    if array.shape == shape:
        return array
    if array.ndim == 0:
        return np.full(shape, array)
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise Error(function, f"values: shape {array.shape} does not fit {shape}") from None


def destination(function: str, out: Any, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """An array of the user's that results can be stored into."""
    if (
        type(out) is np.ndarray
        and out.dtype is dtype
        and out.shape == shape
        and out.flags.writeable
    ):
        return out
    if not isinstance(out, np.ndarray):
        raise Error(function, f"out: {type(out).__name__} is no NumPy array")
    if out.dtype != dtype or out.shape != shape:
        raise Error(function, f"out: {out.dtype}{list(out.shape)} is not {dtype}{list(shape)}")
    if not out.flags.writeable:
        raise Error(function, "out: the array is read-only")
    return out
