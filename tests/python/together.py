# SPDX-License-Identifier: BSD-3-Clause
"""What ranks do together: groups and their arrays, collectives, messages, notifications, mutexes,
threads.
"""

import threading

import armci
import numpy as np
from check import done, refuses

me, size = armci.rank(), armci.size()
right, left = (me + 1) % size, (me - 1) % size


def collectives(group):
    n = group.size
    for dtype in ("i4", "i8", "f4", "f8", "c8", "c16"):
        values = np.arange(6).reshape(2, 3).astype(dtype) + me
        total = sum(np.arange(6).reshape(2, 3).astype(dtype) + r for r in group.ranks)
        assert armci.gop(values, "+", group) is values and np.array_equal(values, total)
        values = np.full(3, me, dtype)
        assert (armci.bcast(values, group.ranks[-1], group) == group.ranks[-1]).all()
    assert armci.gop(me, "max", group) == max(group.ranks)
    assert armci.gop(me - 0.5, "min", group) == min(group.ranks) - 0.5
    assert armci.gop(np.full(1, 2), "prod", group)[0] == 2**n
    assert armci.gop(1 << group.rank, "|", group) == 2**n - 1 and armci.gop(1, "&&", group) == 1
    assert armci.gop(np.array([-me, me]), "absmax", group)[1] == max(group.ranks)
    assert armci.gop(np.zeros((0, 3)), "+", group).shape == (0, 3)
    values = np.asfortranarray([[1, 2], [3, 4]]) * (group.rank + 1)
    assert np.array_equal(armci.gop(values, "max", group), np.array([[1, 2], [3, 4]]) * n)


def groups():
    collectives(armci.world())
    halves = armci.world().split(me % 2, -me)
    assert halves.ranks == sorted(halves.ranks, reverse=True) and halves.ranks[halves.rank] == me
    collectives(halves)
    a = armci.array([me, me], group=halves)
    for r in range(size):
        if r in halves:
            assert a.on(r)[1] == r
        else:
            refuses("on", "rank", a.on, r)
    halves.barrier()
    refuses("free", "in use", halves.free)
    a.free()
    halves.free()
    refuses("zeros", "freed", armci.zeros, 3, group=halves)
    assert armci.world().split(-1) is None
    some = armci.Group.create(range(0, size, 2))
    assert (some is None) == (me % 2 == 1)
    if some:
        with some, armci.zeros((200, 20), group=some) as b:
            for step in range(1, 21):
                b.on(0).add(..., 1)
                some.barrier()
                assert me or (b.local == step * some.size).all()
                some.barrier()


def messages():
    if size > 1:
        if me == 0:
            armci.send(np.arange(5.0), right, 7)
        back = np.zeros(9)
        assert armci.recv(back, left, 7) == 40
        if me:
            armci.send(back[:5], right, 7)
        assert np.array_equal(back[:5], np.arange(5.0)) and not back[5:].any()
    own = np.zeros(2, np.int32)
    armci.send(np.array([1, 2], np.int32), me)
    assert armci.recv(own, me) == 8 and own[1] == 2


def notifications():
    """Rounds of a ring: what is put before a notification is there after waiting for it."""
    a = armci.zeros(100)
    for step in range(1, 6):
        a.on(right)[:] = step
        assert armci.notify(right) == step
        assert armci.wait_notify(left) >= step and (a.local == step).all()
        armci.notify(left), armci.wait_notify(right)
        if left == right:
            break
    armci.barrier()
    a.free()


def mutexes():
    """A sum by get and put under a mutex; with several threads of each process."""
    a = armci.zeros(1, np.int64)
    with armci.Mutexes(2 if me == size - 1 else 0) as m:

        def count():
            for _ in range(10):
                with m.lock(1, size - 1):
                    a.on(size - 1)[0] = a.on(size - 1)[0] + 1

        threads = [threading.Thread(target=count) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        armci.barrier()
        assert a.on(size - 1)[0] == 20 * size
        armci.barrier()
        if me == 0:
            assert m.acquire(0, size - 1, blocking=False)
        armci.barrier()
        if me != 0:
            assert not m.acquire(0, size - 1, blocking=False)
        armci.barrier()
        if me == 0:
            m.release(0, size - 1)
    a.free()


groups()
messages()
notifications()
mutexes()
done()
