# SPDX-License-Identifier: BSD-3-Clause
"""Arrays: shapes and types per rank, the own block, blocks of the node, out=, handles, atomic
operations, structured types.
"""

import armci
import numpy as np
from check import done, refuses

me, size = armci.rank(), armci.size()
right = (me + 1) % size


def shapes():
    """Blocks of different shapes, empty ones too."""
    a = armci.zeros((me, 3), np.int32)
    assert a.local.shape == (me, 3) and a.local.dtype == np.int32
    for r in range(size):
        assert a.shape_of(r) == (r, 3) == a.on(r).shape
        assert a.on(r)[...].shape == (r, 3) == np.asarray(a.on(r)).shape and len(a.on(r)) == r
    a.on(right)[...] = right + 1
    armci.barrier()
    assert (a.local == me + 1).all()
    a.free()
    with armci.array(np.full(4, me, np.float32)) as b:
        assert b.on(right)[2] == right and isinstance(b.on(right)[2], np.float32)
        armci.barrier()
    with armci.zeros(()) as c:
        c.on(right)[()] = me + 0.5
        armci.barrier()
        assert c.local == (me - 1) % size + 0.5 and c.on(me)[...] == c.local
        armci.barrier()


def types():
    """Types without arithmetic are moved as bytes."""
    record = np.dtype([("number", "i4"), ("name", "S4"), ("when", "M8[s]")])
    a = armci.zeros((2, 3), record)
    a.on(right)[1, ::2] = np.array([(me, b"x", "2001-02-03")] * 2, record)
    armci.barrier()
    left = (me - 1) % size
    assert a.local[1, 2]["number"] == left
    assert a.local["name"][1, 0] == b"x" and a.local[0, 0]["number"] == 0
    assert a.on(right)[1, 0]["when"] == np.datetime64("2001-02-03")
    armci.barrier()
    a.free()
    for dtype in ("?", "i1", "u2", "f2", ">i4", "M8[ns]", "U3", "c8"):
        with armci.zeros(5, dtype) as b:
            b.on(right)[1:4] = np.array([1, 0, 1]).astype(dtype)
            armci.barrier()
            assert np.array_equal(b.local[1:4], np.array([1, 0, 1]).astype(dtype)), dtype
            armci.barrier()
    with armci.zeros(3, "u4") as c:
        c.on(me)[:] = [1, 2, 3]
        assert np.array_equal(c.on(me).take([[-1, 0], [-3, 2]]), [[3, 1], [1, 3]])
        c.on(me).put_at(-2, np.int64(9))
        assert c.local[1] == 9
        c.on(me)[0] = 2**32 - 1
        assert c.on(me).fetch_add(0, 1) == 2**32 - 1 and c.on(me)[0] == 0


def near():
    """Ranks of the node by loads and stores."""
    a = armci.zeros(3)
    for r in range(size):
        assert armci.same_node(r) == (armci.node(r) == armci.node())
        if armci.same_node(r):
            a.near(r)[me % 3] += 0
            assert a.near(r).shape == (3,)
        else:
            refuses("near", "another node", a.near, r)
    if armci.same_node(right):
        a.near(right)[1] = me + 1
    else:
        a.on(right)[1] = me + 1
    armci.barrier()
    assert a.local[1] == (me - 1) % size + 1
    assert 1 <= armci.nodes() <= size and 0 <= armci.node() < armci.nodes()
    a.free()


def handles():
    """Nonblocking calls: several at a time, dropped ones, out=."""
    a = armci.zeros((4, 1000))
    b = a.on(right)
    rows = [np.full(1000, 10.0 * row + me) for row in range(4)]
    puts = [b.nbput(row, rows[row]) for row in range(4)]
    assert armci.wait_all(puts) == [None] * 4 and all(h.test() for h in puts)
    for row in range(4):
        b.nbadd(row, rows[row])  # dropped: it waits
    b.fence()
    out = np.zeros((1000, 4))
    assert b.nbget(..., out=out.T).wait().base is out
    assert np.array_equal(out.T, [2 * row for row in rows])
    assert b.nbget((0, 0)).wait().shape == ()
    refuses("nbget", "negative", b.nbget, slice(None, None, -1), out=np.empty((4, 1000)))
    refuses("wait_all", "no armci.Handle", armci.wait_all, [1])
    armci.barrier()
    a.free()


def atomics():
    """Counters of all ranks at once; each value is given out once."""
    a = armci.zeros(4, np.int64)
    counter = a.on(0)
    got = np.zeros(20 * size, np.int64)
    for _ in range(20):
        got[counter.fetch_add(0, 1)] += 1
    armci.gop(got)
    assert (got == 1).all()
    for _ in range(10):  # a sum by compare-and-swap
        seen = counter[1]
        while (found := counter.compare_swap(1, seen, seen + me)) != seen:
            seen = found
    armci.barrier()
    assert counter[1] == 10 * sum(range(size))
    own = a.on(me)
    assert own.swap(2, -5) == 0 and own.fetch_and(2, 6) == -5
    assert own.fetch_or(2, 8) == 2 and own.fetch_xor(2, 1) == 10
    assert own[2] == 11
    armci.barrier()
    a.free()


shapes()
types()
near()
handles()
atomics()
done()
