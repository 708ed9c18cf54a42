# SPDX-License-Identifier: BSD-3-Clause
"""A Python program as a user would write it: every rank puts its number into the block of the next
one.
"""

import armci

a = armci.zeros(3)
a.on((armci.rank() + 1) % armci.size())[1] = armci.rank() + 1
armci.barrier()
if a.local[1] != (armci.rank() - 1) % armci.size() + 1:
    raise SystemExit("wrong value")
if armci.rank() == 0:
    print(f"ok hello of {armci.size()}")
