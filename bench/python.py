# SPDX-License-Identifier: BSD-3-Clause
"""What puts and gets of the Python package cost beside a copy by NumPy and beside mpi4py's windows,
in the same two processes.

    bench run mpirun -n 2 python3 bench/python.py
    bench run mpirun -n 2 --mca btl tcp,self --mca osc pt2pt python3 bench/python.py -nodes

The second command is for pretended nodes, both over TCP.

Prints lines of timing.h (in the worker of armci_perf); the ways take turns. Rank 0 measures, rank 1
waits in a barrier of MPI: its windows between nodes need that; ARMCI needs nothing of it. A put is
measured with its fence (Flush). With -nodes the ranks are nodes to ARMCI (setting ARMCI_NODE).
"""

import argparse
import os
import time

import mpi4py

mpi4py.rc.thread_level = "single"  # with which all ways of Open MPI work
from mpi4py import MPI  # noqa: E402

parser = argparse.ArgumentParser(description="Puts and gets beside NumPy and mpi4py")
parser.add_argument("-nodes", action="store_true", help="the two ranks are nodes")
parser.add_argument("-reps", type=int, default=101)
options = parser.parse_args()
if options.nodes:
    os.environ["ARMCI_NODE"] = f"node{MPI.COMM_WORLD.rank}"

import armci  # noqa: E402 (after the setting)
import numpy as np  # noqa: E402


def ways(nbytes):
    """Name and function of each way to move nbytes; all collective to make."""
    array = armci.zeros(nbytes // 8)
    block, out = array.on(1), np.zeros(nbytes // 8)
    far = np.zeros(nbytes // 8)
    window = MPI.Win.Allocate(nbytes, comm=MPI.COMM_WORLD)
    window.Lock_all()

    def armci_put():
        block[:] = out
        block.fence()

    def mpi_get():
        window.Get(out, 1)
        window.Flush(1)

    def mpi_put():
        window.Put(out, 1)
        window.Flush(1)

    return {
        "numpy-copy": lambda: np.copyto(out, far),
        "get": lambda: block[:],
        "get-out": lambda: block.get(..., out),
        "put": armci_put,
        "mpi4py-put": mpi_put,
        "mpi4py-get": mpi_get,
    }


# What each way is beside.
beside = {"get": "mpi4py-get", "get-out": "mpi4py-get", "put": "mpi4py-put"}


def nanoseconds(call, count):
    began = time.perf_counter_ns()
    for _ in range(count):
        call()
    return (time.perf_counter_ns() - began) / count


def text(samples):
    return " ".join(f"{x:.6g}" for x in samples) or "-"


for size, count in ((8, 200), (1 << 20, 5)):
    calls = ways(size)
    MPI.COMM_WORLD.Barrier()
    if armci.rank() == 0:
        found = {name: [] for name in calls}
        for rep in range(options.reps):
            for k in range(len(calls)):
                name = list(calls)[(k + rep) % len(calls)]  # none always follows the same one
                found[name].append(nanoseconds(calls[name], count))
        for name, samples in found.items():
            raw = found[beside[name]] if name in beside else []
            print("PERF", name, "-", size, 2, "ns", text(samples), text(raw), sep="\t")
    MPI.COMM_WORLD.Barrier()  # where rank 1 waits meanwhile
if armci.rank() == 0:
    print(
        f"{armci.nodes()} nodes, {MPI.Get_library_version().split(',')[0]}, numpy {np.__version__}"
    )
