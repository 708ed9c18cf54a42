# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the programs of this directory: expected errors, and the words that the script waits
for.

A failed assertion of one rank ends the job, which the package promises of every uncaught exception.
"""

import os
import sys

import armci


def refuses(function, cause, call, *arguments, **named):
    """The call raises an Error that names function and cause."""
    try:
        call(*arguments, **named)
    except armci.Error as error:
        assert error.function == function, f"{error.function} is not {function}: {error}"
        assert cause in str(error), f"{cause!r} is not in {str(error)!r}"
        assert error.rank is None or f"(on rank {error.rank})" in str(error)
        return error
    raise AssertionError(f"{function} has not refused: {cause}")


def done():
    """Every rank is here; the first says so."""
    armci.barrier()
    if armci.rank() == 0:
        name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
        print(f"ok {name} on {armci.size()} ranks, {armci.nodes()} nodes", flush=True)
