# SPDX-License-Identifier: BSD-3-Clause
"""The last rank fails in the way that is named while the others wait in a barrier: the script
checks that all ranks end.

    ends.py raise|exit|thread|abort
"""

import sys

import armci

way = sys.argv[1]
if armci.rank() == armci.size() - 1:
    if way == "raise":
        raise ValueError("told to fail")
    if way == "exit":
        sys.exit(3)
    if way == "abort":
        armci.abort("told to abort", 4)
    armci.on(0)  # no such name
armci.barrier()
armci.barrier()
print("goes on", flush=True)
