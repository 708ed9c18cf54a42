# SPDX-License-Identifier: BSD-3-Clause
"""Random slices, lists of indices, puts, gets and adds, of all types, beside the same on plain
NumPy arrays.

Each rank owns a part of every block (the last dimension), so that a mirror in its own memory says
what it must find.
"""

import random

import armci
import numpy as np
from check import done

TYPES = ["int32", "int64", "float32", "float64", "complex64", "complex128"]
SHAPES = [(17,), (5, 8), (8, 1, 6), (3, 4, 2, 5), (2, 3, 1, 2, 2, 3), (2, 2, 2, 2, 2, 2, 2, 3)]
ROUNDS = 40


def some_index(choose, shape):
    """A random basic index of a shape."""
    index = []
    for n in shape:
        kind = choose.randrange(5)
        if kind == 0:
            index.append(choose.randrange(-n, n))
        elif kind == 1:
            index.append(slice(None))
        else:
            ends = [choose.choice([None, choose.randrange(-n - 1, n + 2)]) for _ in range(2)]
            index.append(slice(*ends, choose.choice([None, 1, 2, 3, -1, -2])))
    if choose.random() < 0.2:
        index = index[: choose.randrange(len(index) + 1)]
    if choose.random() < 0.2:
        index.insert(choose.randrange(len(index) + 1), None)
    if choose.random() < 0.2 and len(index) <= len(shape):
        at = choose.randrange(len(index) + 1)
        index[at:] = [...]
    return tuple(index) if len(index) != 1 or choose.random() < 0.5 else index[0]


def some_values(choose, shape, dtype):
    """Values of a shape, or broadcast to it, in one of the layouts of NumPy."""
    if choose.random() < 0.2:
        return choose.randrange(100)
    if shape and choose.random() < 0.1:
        shape = shape[1:]
    numbers = [choose.randrange(-99, 99) for _ in range(int(np.prod(shape)))]
    values = np.array(numbers, dtype).reshape(shape)
    layout = choose.randrange(4)
    if layout == 0:
        return np.asfortranarray(values) if values.ndim else values
    if layout == 1 and values.ndim:
        return values[::-1]
    if layout == 2 and values.ndim:
        return np.repeat(values, 2, axis=-1)[..., ::2]
    if layout == 3:
        values.flags.writeable = False
    return values


def some_out(choose, shape, dtype):
    """An array to get into, or None for a new one."""
    layout = choose.randrange(4)
    if layout == 0:
        return np.empty(shape, dtype, order="F")
    if layout == 1 and len(shape):
        return np.empty((*shape[:-1], shape[-1] * 3), dtype)[..., ::3]
    return None


def one_round(choose, block, mirror):
    """One operation on the block, and the same on the mirror."""
    index = some_index(choose, mirror.shape)
    there = mirror[index]
    shape, dtype = np.shape(there), mirror.dtype
    kind = choose.choice(
        ["put", "nbput", "add", "nbadd", "get", "nbget", "take", "put_at", "add_at"]
    )
    if kind in ("put", "nbput"):
        values = some_values(choose, shape, dtype)
        mirror[index] = values
        handle = getattr(block, kind)(index, values)
    elif kind in ("add", "nbadd"):
        values, scale = some_values(choose, shape, dtype), choose.randrange(-3, 4)
        mirror[index] += dtype.type(scale) * values
        handle = getattr(block, kind)(index, values, scale=scale)
    elif kind == "get":
        handle, out = None, some_out(choose, shape, dtype)
        found = block.get(index, out)
        assert np.array_equal(found, there) and np.shape(found) == shape
        assert out is None or found is out
        assert out is not None or shape or isinstance(found, dtype.type)  # one element is a scalar
    elif kind == "nbget":
        handle = block.nbget(index)
        assert np.array_equal(handle.wait(), there)
    else:
        handle = None
        lists(choose, kind, block, mirror)
    if handle is not None:
        while choose.random() < 0.5 and not handle.test():
            pass
        handle.wait()


def lists(choose, kind, block, mirror):
    flat = mirror.reshape(-1)
    places = np.array(
        [choose.randrange(-flat.size, flat.size) for _ in range(choose.randrange(9))], np.int64
    )
    indices = places
    if choose.random() < 0.5:
        indices = np.unravel_index(places % flat.size, mirror.shape)
    if kind == "take":
        assert np.array_equal(block.take(indices), flat[places])
        return
    values = some_values(choose, places.shape, mirror.dtype)
    if kind == "put_at":
        values = choose.randrange(99)  # the same for each, since indices may repeat
        flat[places] = values
        block.put_at(indices, values)
    else:
        np.add.at(flat, places, mirror.dtype.type(2) * values)
        block.add_at(indices, values, scale=2)


def main():
    me, size = armci.rank(), armci.size()
    for number, shape in enumerate(SHAPES):
        for dtype in TYPES:
            choose = random.Random(1000 * number + 10 * me + TYPES.index(dtype))
            # Rank r owns [r, ...] of each block.
            array = armci.zeros((size, *shape), dtype)
            mirrors = [np.zeros(shape, dtype) for _ in range(size)]
            blocks = [Part(array.on(r), me) for r in range(size)]
            for _ in range(ROUNDS):
                target = choose.randrange(size)
                one_round(choose, blocks[target], mirrors[target])
            armci.barrier()
            for target in range(size):
                assert np.array_equal(array.on(target)[me], mirrors[target]), (shape, dtype, target)
                whole = array.on(target)[...]
                assert np.array_equal(whole[me], mirrors[target])
            armci.barrier()
            array.free()
    done()


class Part:
    """The part [me] of a block: the same calls, with the index of the part in front."""

    def __init__(self, block, me):
        self.block, self.me = block, me

    def __getattr__(self, name):
        call = getattr(self.block, name)
        if name in ("take", "put_at", "add_at"):
            return lambda indices, *rest, **named: call(self.places(indices), *rest, **named)
        return lambda index, *rest, **named: call(
            (self.me, *index) if isinstance(index, tuple) else (self.me, index), *rest, **named
        )

    def places(self, indices):
        shape = self.block.shape[1:]
        if isinstance(indices, tuple):
            return (np.full(indices[0].shape, self.me), *indices)
        size = int(np.prod(shape))
        return self.me * size + indices % size


main()
