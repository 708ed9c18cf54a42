# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong becomes an Error, which names function, cause and rank. Nothing here calls the
library.
"""

from __future__ import annotations

# What the codes of armci.h mean; the library itself has then printed a line with the argument.
CODES = {
    -1: "used before init or after finalize, a null pointer, or another bad argument",
    -2: "a null stride, count or pointer array",
    -3: "a size that is negative or not whole elements",
    -4: "stride levels or counts out of range",
    -5: "a rank out of range",
    -6: "no memory left, or a failure inside the library",
    -7: "an unknown operation or type, or a misaligned address",
    -8: "an address outside of one live allocation of that rank",
}

# Rank of this process once the job has started, for messages.
own_rank: int | None = None


class Error(RuntimeError):
    """A call that failed; it has changed nothing.

    function: the name of the function. code: the library's return code, or None if the arguments
    were refused before. rank: the rank of this process, or None before the job has started.
    """

    def __init__(self, function: str, cause: str, code: int | None = None):
        where = "" if own_rank is None else f" (on rank {own_rank})"
        super().__init__(f"{function}: {cause}{where}")
        self.function = function
        self.code = code
        self.rank = own_rank


def check(function: str, code: int) -> None:
    """Raise what a nonzero return code of the library means."""
    if code:
        raise Error(function, f"{CODES.get(code, 'failed')} (code {code})", code)
