# SPDX-License-Identifier: BSD-3-Clause
"""Order and completion: barrier, fence, notifications, and mutexes."""

from __future__ import annotations

import ctypes
import threading
from contextlib import contextmanager
from typing import Iterator

import numpy as np

from . import group as groups, job
from .errors import Error, check
from .group import Group
from .library import INT_MAX, lib


def barrier() -> None:
    """Complete all stores, and wait for all ranks: then each sees all stores of each. Collective.
    For a group: Group.barrier.
    """
    job.require("barrier")
    lib.ARMCI_Barrier()


def fence(rank: int | None = None) -> None:
    """Wait until all stores of the caller to a rank, or to all ranks, are remotely done. Any
    thread.
    """
    if rank is None:
        job.require("fence")
        lib.ARMCI_AllFence()
    else:
        lib.ARMCI_Fence(job.world_rank("fence", rank))


def notify(rank: int) -> int:
    """Tell a rank that all that the caller stored there before has arrived. Returns: how often the
    caller has notified it.
    """
    return _count("notify", lib.armci_notify(job.world_rank("notify", rank)))


def wait_notify(rank: int) -> int:
    """Wait for one more notification from a rank: the k-th call waits for the k-th one. Then stores
    made before it can be seen. Returns: how many have arrived so far.
    """
    calls = ctypes.c_int()
    return _count(
        "wait_notify",
        lib.armci_notify_wait(job.world_rank("wait_notify", rank), ctypes.addressof(calls)),
    )


def _count(function: str, number: int) -> int:
    if number < 0:
        check(function, number)
    return number


class Mutexes:
    """Mutexes that each member of a group hosts some of. Collective(group), as is free().

    count: how many the caller hosts, numbered from 0; may differ between ranks. A process holds a
    mutex, until the thread that has locked it unlocks it; waiters are served in order. Stores to
    the host made before unlock are seen by the next holder.
    """

    def __init__(self, count: int = 1, group: Group | None = None):
        self.group = groups.of("Mutexes", group)
        is_count = job.is_integer(count) and 0 <= count < INT_MAX
        counts = np.zeros(self.group.size, np.int64)
        counts[self.group.rank] = count if is_count else -1
        self.group._reduce(counts, "+")
        if counts.min() < 0:
            raise Error(
                "Mutexes",
                f"count: {count!r} is no number"
                if not is_count
                else "wrong arguments of another rank",
            )
        self._counts = counts
        self._held: dict[tuple[int, int], int] = {}  # which thread of this process holds what
        self._batch = lib.ARMCIX_Create_mutexes_hdl(int(count), self.group._pointer)
        if not self._batch:
            raise Error("Mutexes", "the mutexes cannot be created")

    @contextmanager
    def lock(self, mutex: int = 0, rank: int = 0) -> Iterator[None]:
        """`with m.lock(mutex, rank):` holds a mutex of a rank of the job."""
        self.acquire(mutex, rank)
        try:
            yield
        finally:
            self.release(mutex, rank)

    def acquire(self, mutex: int = 0, rank: int = 0, blocking: bool = True) -> bool:
        """Lock a mutex; without `blocking` only if it is free. Returns: whether the caller holds
        it.
        """
        key = self._key("acquire", mutex, rank)
        if self._held.get(key) == threading.get_ident():
            raise Error("acquire", f"this thread already holds mutex {mutex} of rank {rank}")
        if blocking:
            lib.ARMCIX_Lock_hdl(self._batch, *key)
        elif lib.ARMCIX_Trylock_hdl(self._batch, *key):
            return False
        self._held[key] = threading.get_ident()
        return True

    def release(self, mutex: int = 0, rank: int = 0) -> None:
        """Unlock a mutex that this process holds."""
        key = self._key("release", mutex, rank)
        if self._held.pop(key, None) is None:
            raise Error("release", f"this process does not hold mutex {mutex} of rank {rank}")
        lib.ARMCIX_Unlock_hdl(self._batch, *key)

    def free(self) -> None:
        """Destroy the mutexes, all of them unlocked. Collective(group). Error, on every member, if
        one is held.
        """
        self._require("free")
        held = np.array([len(self._held)], np.int64)
        self.group._reduce(held, "+")
        if held[0]:
            raise Error("free", "a mutex is still held")
        batch, self._batch = self._batch, None
        check("ARMCIX_Destroy_mutexes_hdl", lib.ARMCIX_Destroy_mutexes_hdl(batch))

    def _require(self, function: str) -> None:
        self.group._require(function)
        if self._batch is None:
            raise Error(function, "the mutexes have been freed")

    def _key(self, function: str, mutex: int, rank: int) -> tuple[int, int]:
        self._require(function)
        count = self._counts[self.group._place(function, rank)]
        if not job.is_integer(mutex) or not 0 <= mutex < count:
            raise Error(function, f"mutex: {mutex!r} is not one of the {count} of rank {rank}")
        return int(mutex), int(rank)

    def __enter__(self) -> Mutexes:
        return self

    def __exit__(self, kind, value, trace) -> None:
        if kind is None and self._batch is not None:
            self.free()
