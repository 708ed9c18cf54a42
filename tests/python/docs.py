# SPDX-License-Identifier: BSD-3-Clause
"""The programs of docs/python.md, whose path is the argument, run as they are written there."""

import re
import sys
from pathlib import Path

import armci
from check import done

blocks = re.findall(r"^```python\n(.*?)^```", Path(sys.argv[1]).read_text(), re.M | re.S)
assert len(blocks) == 2
tasks = []
names = {"work": tasks.append}
for block in blocks:
    exec(block, names)
left = (armci.rank() + 1) % armci.size()
assert list(names["column"]) == [left] * 4 and names["first"].shape == (4,)
armci.barrier()
assert names["a"].local[1, 2] == 7 and names["a"].local[0, 5] == armci.rank() + 0.5
assert armci.gop(len(tasks)) == 1000
done()
