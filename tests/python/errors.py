# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments are refused with function, cause and rank, before anything has happened, and the
job goes on.
"""

import armci
import numpy as np
from check import done, refuses

me, size = armci.rank(), armci.size()
a = armci.zeros((4, 6))
n = armci.zeros(3, np.int32)
b, c = a.on(size - 1), n.on(size - 1)
for rank in (-1, size, 1.5, "0", None, True):
    refuses("on", "rank", a.on, rank)
    refuses("near", "rank", a.near, rank)
    refuses("notify", "rank", armci.notify, rank)
    refuses("wait_notify", "rank", armci.wait_notify, rank)
    refuses("same_node", "rank", armci.same_node, rank)
    if rank is not None:
        refuses("fence", "rank", armci.fence, rank)
    refuses("send", "rank", armci.send, np.zeros(1), rank)
for index in ((4, 0), (0, -7), (0, 0, 0), (..., ...), slice(0, 2, 0), slice(1.5)):
    refuses("get", "index", b.get, index)
    refuses("put", "index", b.put, index, 0)
    refuses("add", "index", b.add, index, 0)
for index in ([0, 1], np.array([0]), True, "x", 1.0, (0, [1]), np.True_, b"a"):
    refuses("get", "index", b.get, index)
    refuses("nbput", "index", b.nbput, index, 0)
assert b[10:].shape == (0, 6) and b[np.int64(1), 1:99].shape == (5,)
refuses("put", "shape", b.put, 0, np.zeros(5))
refuses("put", "shape", b.put, ..., np.zeros((6, 4)))
refuses("put", "float32", b.put, 0, np.zeros(6, np.float32))
refuses("put", "values", b.put, 0, "text")
refuses("put", "values", b.put, 0, 1j)
refuses("put", "values", c.put, 0, 1.5)
refuses("put", "range", c.put, 0, 2**31)
refuses("put", "values", c.put, 0, 2**100)
refuses("put", "values", c.put, 0, [[1], [2, 3]])
refuses("get", "out", b.get, ..., np.zeros((6, 4)))
refuses("get", "out", b.get, ..., np.zeros((4, 6), np.float32))
refuses("get", "out", b.get, ..., [0])
frozen = np.zeros((4, 6))
frozen.flags.writeable = False
refuses("get", "read-only", b.get, ..., frozen)
refuses("add", "scale", b.add, 0, 1, scale=1j)
refuses("add", "scale", c.add, 0, 1, scale=[1, 2])
for places in ([18], [-25], [0.5], ["x"], (np.array([0]),), (np.array([4]), np.array([0])), None):
    for function, values in (("take", ()), ("put_at", (0,)), ("add_at", (0,))):
        indices = places if places != [18] else [24]
        refuses(function, "indices", getattr(b, function), indices, *values)
refuses("put_at", "shape", b.put_at, [1, 2], np.zeros(3))
refuses("fetch_add", "float64", b.fetch_add, (0, 0))
refuses("fetch_add", "one", c.fetch_add, slice(None))
refuses("fetch_add", "range", c.fetch_add, 0, 2**31)
refuses("swap", "integer", c.swap, 0, 0.5)
with armci.zeros(2, np.int16) as small:
    refuses("add", "accumulated", small.on(0).add, 0, 1)
    refuses("swap", "int16", small.on(0).swap, 0, 1)
assert not a.local.any() and not n.local.any() and not b[...].any()

# Collective calls: if one rank is wrong, every rank is told.
for shape, dtype, cause in (
    (-1, "f8", "negative"),
    ("x", "f8", "shape"),
    (1.5, "f8", "shape"),
    (2**62, "f8", "large"),
    (3, "nonsense", "dtype"),
    (3, object, "dtype"),
    (3, "V0", "dtype"),
    ((2,) * 40, "f8", "large"),
):
    if me == size - 1:
        refuses("zeros", cause, armci.zeros, shape, dtype)
    else:
        refuses("zeros", f"of rank {size - 1}", armci.zeros, 3)
if size > 1:
    refuses("empty", "dtype", armci.empty, 3, "f8" if me else "f4")
    refuses("empty", "dimensions", armci.empty, (3,) * (me + 1))
refuses("ARMCI_Malloc_group", "no memory", armci.empty, 2**50, "u1")
refuses("zeros", "group", armci.zeros, 3, group=1)
refuses("Mutexes", "count" if me == 0 else "another rank", armci.Mutexes, -1 if me == 0 else 1)
refuses("Mutexes", "count", armci.Mutexes, 1.5)

refuses("bcast", "rank", armci.bcast, np.zeros(3), size)
refuses("bcast", "contiguous", armci.bcast, np.zeros(6)[::2])
refuses("bcast", "values", armci.bcast, [1, 2])
refuses("gop", "op", armci.gop, np.zeros(3), "nonsense")
refuses("gop", "op", armci.gop, np.zeros(3), "|")
refuses("gop", "op", armci.gop, np.zeros(3, np.int8))
refuses("gop", "op", armci.gop, np.zeros(3, complex), "max")
refuses("gop", "values", armci.gop, [1, 2])
refuses("gop", "read-only", armci.gop, frozen)
refuses("send", "tag", armci.send, np.zeros(1), 0, 2**31)
refuses("Group.create", "ascending", armci.Group.create, [0, 0])
refuses("Group.create", "rank", armci.Group.create, [0, size])
refuses("free", "cannot", armci.world().free)
for made in (armci.Array, armci.Group):
    refuses(made.__name__, "is made by", made)
refuses("init", "comm", armci.init, comm=1)

m = armci.Mutexes(1)
refuses("acquire", "mutex", m.acquire, 1, 0)
refuses("acquire", "rank", m.acquire, 0, size)
refuses("release", "hold", m.release, 0, me)
with m.lock(0, me):
    refuses("acquire", "already", m.acquire, 0, me)
    refuses("free", "held", m.free)
m.free()
refuses("acquire", "freed", m.acquire)
done()
