# SPDX-License-Identifier: BSD-3-Clause
"""Handles of nonblocking calls. A handle keeps the buffers of its call alive."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from . import job
from .errors import Error, check
from .library import lib

if TYPE_CHECKING:
    from .memory import Memory


class Handle:
    """A nonblocking call that may still be in progress. Until it is done, do not change what a put
    or add reads, and do not read what a get fills in. A handle that is dropped waits. One thread at
    a time may use a handle.
    """

    __slots__ = ("_hdl", "_memory", "_buffer", "_result", "_done", "__weakref__")

    def __init__(self, memory: Memory, buffer: Any, result: Any):
        self._hdl = ctypes.c_int(0)
        self._memory = memory
        self._buffer = buffer
        self._result = result
        self._done = False
        memory.unfinished.add(id(self))

    def wait(self) -> Any:
        """Wait until the call is locally done. Returns: the array of a get, else None. May be
        called again.
        """
        if not self._done:
            job.require("wait")
            code = lib.ARMCI_Wait(ctypes.addressof(self._hdl))
            self._finish()
            check("ARMCI_Wait", code)
        return self._result

    def test(self) -> bool:
        """Whether the call is locally done, without waiting."""
        if not self._done:
            job.require("test")
            code = lib.ARMCI_Test(ctypes.addressof(self._hdl))
            if code == 1:
                return False
            self._finish()
            check("ARMCI_Test", code)
        return True

    def _finish(self) -> None:
        self._done = True
        self._buffer = None
        self._memory.unfinished.discard(id(self))

    def __del__(self) -> None:
        if not self._done:
            if job.running():
                lib.ARMCI_Wait(ctypes.addressof(self._hdl))
            self._finish()

    def __repr__(self) -> str:
        return f"<armci.Handle {'done' if self._done else 'in progress'}>"


def wait_all(handles: Any) -> list[Any]:
    """Wait for several handles. Returns: what wait() of each returns."""
    handles = list(handles)
    for handle in handles:
        if not isinstance(handle, Handle):
            raise Error("wait_all", f"handles: {handle!r} is no armci.Handle")
    return [handle.wait() for handle in handles]
