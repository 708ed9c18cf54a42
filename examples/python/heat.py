# SPDX-License-Identifier: BSD-3-Clause
"""Heat spreads on a square plate, which is divided among the ranks as a grid of blocks.

Before each step a rank gets the edges of its neighbours' blocks into the margin of its own: rows
are contiguous, columns are strided, either is one slice. At the end the first rank gets the whole
plate, checks it against a run of its own, and plots it.

    armcirun -n 4 python3 heat.py -plot heat.svg
"""

import argparse

import armci
import numpy as np

RATE = 0.2  # of a step: how far a point moves towards the mean of its neighbours


def arguments():
    parser = argparse.ArgumentParser(description="Heat on a plate, by one-sided slices")
    parser.add_argument("-n", type=int, default=200, help="points of a side of the plate")
    parser.add_argument("-steps", type=int, default=2000)
    parser.add_argument(
        "-plot",
        metavar="FILE",
        help="where the first rank draws the plate: .png or .svg (needs matplotlib)",
    )
    return parser.parse_args()


def cuts(n, parts):
    """Where n points are cut into parts that differ by one point at most."""
    return [n * i // parts for i in range(parts + 1)]


def step(u):
    """One explicit step of all points but the margin."""
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    u[1:-1, 1:-1] += RATE * (around - 4 * u[1:-1, 1:-1])


def serial(n, steps):
    u = np.zeros((n + 2, n + 2))
    u[0, :] = 100
    for _ in range(steps):
        step(u)
    return u[1:-1, 1:-1]


class Grid:
    """The ranks as rows times columns, and the points of each."""

    def __init__(self, n):
        self.rows = next(r for r in range(int(armci.size() ** 0.5), 0, -1) if armci.size() % r == 0)
        self.columns = armci.size() // self.rows
        self.row_cuts, self.column_cuts = cuts(n, self.rows), cuts(n, self.columns)

    def place(self, rank):
        return divmod(rank, self.columns)

    def part(self, rank):
        """The slices of the plate that a rank has."""
        p, q = self.place(rank)
        return slice(*self.row_cuts[p : p + 2]), slice(*self.column_cuts[q : q + 2])

    def neighbours(self, rank):
        """Rank, the part of its block next to ours, and the part of our margin where that goes."""
        p, q = self.place(rank)
        inner = slice(1, -1)
        if p > 0:
            yield rank - self.columns, (-2, inner), (0, inner)
        if p < self.rows - 1:
            yield rank + self.columns, (1, inner), (-1, inner)
        if q > 0:
            yield rank - 1, (inner, -2), (inner, 0)
        if q < self.columns - 1:
            yield rank + 1, (inner, 1), (inner, -1)


def spread(block, grid, steps):
    """The steps. A rank is at most one step ahead of a neighbour."""
    u, edges = block.local, list(grid.neighbours(armci.rank()))
    for _ in range(steps):
        for rank, _, _ in edges:
            armci.notify(rank)  # my block is as it was after the last step
        for rank, theirs, mine in edges:
            armci.wait_notify(rank)
            block.on(rank).get(theirs, out=u[mine])
        for rank, _, _ in edges:
            armci.notify(rank)  # I have what I need of yours
        for rank, _, _ in edges:
            armci.wait_notify(rank)
        step(u)


def plot(plate, name):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 5))
    image = axes.imshow(plate, cmap="inferno", vmin=0, vmax=100)
    axes.set_title(f"Heat on a plate, computed by {armci.size()} ranks")
    axes.set_xlabel("column")
    axes.set_ylabel("row")
    figure.colorbar(image, label="temperature in degrees")
    figure.savefig(name)


def main():
    options = arguments()
    grid = Grid(options.n)
    if min(options.n // grid.rows, options.n // grid.columns) < 1:
        raise SystemExit(f"heat: {options.n} points are too few for {armci.size()} ranks")
    rows, columns = grid.part(armci.rank())
    block = armci.zeros((rows.stop - rows.start + 2, columns.stop - columns.start + 2))
    if rows.start == 0:
        block.local[0, :] = 100  # the upper edge of the plate is hot
    armci.barrier()
    spread(block, grid, options.steps)
    armci.barrier()
    if armci.rank() == 0:
        plate = np.empty((options.n, options.n))
        for rank in range(armci.size()):
            block.on(rank).get((slice(1, -1), slice(1, -1)), out=plate[grid.part(rank)])
        worst = abs(plate - serial(options.n, options.steps)).max()
        print(
            f"heat: {options.n} x {options.n} points, {options.steps} steps, "
            f"differs from one rank's by at most {worst:g}"
        )
        if options.plot:
            plot(plate, options.plot)
    block.free()


main()
