# SPDX-License-Identifier: BSD-3-Clause
"""Memory lives as long as any rank can reach it, and no longer: views after free, arrays that are
dropped, fork, finalize.
"""

import gc
import os
import weakref

import armci
import numpy as np
from check import done, refuses

me, size = armci.rank(), armci.size()
last = size - 1


def allocations():
    return len(armci.world()._memories)


# One-sided calls after free are refused; a view stays as it was, on the one rank that has it.
a = armci.array(np.full(1000, me + 1.0))
block, view = a.on(last), a.local[10:20] if me == last else None
if me == 0:
    block[10:20] = 5.0
a.free()
refuses("get", "freed", lambda: block[0])
refuses("put", "freed", block.put, 0, 1)
refuses("fetch_add", "freed", block.fetch_add, 0)
refuses("take", "freed", block.take, [0])
refuses("fence", "freed", block.fence)
refuses("on", "freed", a.on, me)
refuses("near", "freed", a.near, me)
refuses("free", "freed", a.free)
refuses("local", "freed", lambda: a.local)
assert "freed" in repr(a) and allocations() == 1
b = armci.zeros(1000)
if me == last:
    assert (view == 5.0).all()  # free has waited for it
    view[:] = 7
assert not b.local.any() and allocations() == 2
view = None
b.free()
assert allocations() == 0

# What every rank has dropped is freed by the next allocation; not what one still has.
for _ in range(5):
    c = armci.zeros(100000)
    assert allocations() <= 2
kept = c.on(last) if me == 0 else None
del c
gc.collect()
d = armci.zeros(3)
assert allocations() == 2
if kept:
    kept[5] = 3.0
    assert kept[5] == 3.0
kept = None
gc.collect()
with armci.zeros(1):
    assert allocations() == 2
assert allocations() == 1

# A handle keeps what it needs.
e = armci.zeros(100000)
handle = e.on(last).nbput(..., np.full(100000, 2.0))
found = e.on(last).nbget(slice(5))
e.free()
assert allocations() == 2
assert found.wait().shape == (5,)
handle.wait()
values = np.full(50000, 3.0)
still = weakref.ref(values)
handle = d.on(last).nbput(slice(3), values[:3])
del values
assert still() is not None
handle.wait()
assert still() is None
d.free()
assert allocations() == 0

# After an exception within `with`, no rank waits for the others.
try:
    with armci.zeros(3) as f:
        raise KeyError
except KeyError:
    pass
f.free()

# A child of fork is refused, also at its end.
g = armci.zeros(3)
remote = g.on(last)
armci.barrier()
child = os.fork()
if child == 0:
    refuses("get", "ended", lambda: remote[0])
    refuses("rank", "fork", armci.rank)
    refuses("init", "fork", armci.init)
    raise SystemExit(5)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
assert remote[0] == 0

done()
# finalize: refused while there are views; afterwards nothing works until init.
view = g.local if me == last else None
refuses("finalize", f"rank {last} still has 1 view", armci.finalize)
view = None
armci.finalize()
assert not armci.initialized()
armci.finalize()
refuses("get", "ended", lambda: remote[0])
refuses("zeros", "finalized", armci.zeros, 3)
refuses("barrier", "finalized", armci.barrier)
armci.init()
assert armci.rank() == me and armci.size() == size
refuses("get", "ended", lambda: remote[0])
h = armci.array([me])
assert h.on(last)[0] == last
