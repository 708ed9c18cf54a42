# SPDX-License-Identifier: BSD-3-Clause
"""The prototypes, constants and layouts of armci/library.py are those of the C headers; their
directory is the argument.

Strides and counts beyond a C int are tried here too, by the package's own translation with a
smaller limit and plain copies.
"""

import ctypes
import itertools
import re
import sys
from pathlib import Path

import numpy as np
from armci import library, slices

text = "\n".join(
    Path(sys.argv[1], name).read_text() for name in ("armci.h", "message.h", "armcix.h")
)
text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
KINDS = {
    "int": ctypes.c_int,
    "long": ctypes.c_long,
    "armci_size_t": ctypes.c_long,
    "void": None,
    "double": ctypes.c_double,
    "armcix_mutex_hdl_t": ctypes.c_void_p,
    "ARMCI_MPI_COMM_": ctypes.c_void_p,
}


def kind(declared):
    """The type of ctypes for `int *x`, `const char *msg`, `int count[]`."""
    words = re.sub(r"\bconst\b", "", declared).strip()
    if "*" in words or "[" in words:
        return ctypes.c_char_p if words.startswith("char") else ctypes.c_void_p
    if words.startswith("armci_giov_t"):
        return ctypes.c_void_p
    return KINDS[words.split()[0]]


def prototypes():
    for name, (result, *arguments) in library.PROTOTYPES.items():
        found = re.search(rf"^([\w ]+[ *]){name}\(([^;]*?)\);", text, re.M | re.S)
        assert found, f"no {name} in the headers"
        declared = [] if found[2] == "void" else [kind(a) for a in found[2].split(",")]
        assert arguments == declared, f"{name}: {arguments} is not {declared}"
        assert result == kind(found[1]), f"{name} returns {found[1]}"


def constants():
    defined = r"#define (\w+) \(?(-?\d+|ARMCI_ACC_OFF \+ \d+)\)?\s*$"
    known = {name: value for name, value in re.findall(defined, text, re.M)}
    offset = int(known["ARMCI_ACC_OFF"])
    c_names = {
        "int32": "INT",
        "float64": "DBL",
        "float32": "FLT",
        "complex64": "CPL",
        "complex128": "DCP",
        "int64": "LNG",
    }
    for name, value in library.ACCUMULATE.items():
        assert known["ARMCI_ACC_" + c_names[name]] == f"ARMCI_ACC_OFF + {value - offset}", name
    for name, c_name in (
        ("int32", "INT"),
        ("int64", "LONG"),
        ("float32", "FLOAT"),
        ("float64", "DOUBLE"),
    ):
        assert library.REDUCE[name] == int(known["ARMCI_" + c_name]), name
    for name in ("ADD", "AND", "OR", "XOR", "SWAP", "CAS"):
        assert getattr(library, "ATOMIC_" + name) == int(known["ARMCIX_" + name]), name
    assert library.SCOPE_ALL == int(known["SCOPE_ALL"])
    assert library.MAX_STRIDE_LEVELS == int(known["ARMCI_MAX_STRIDE_LEVEL"])
    fields = re.search(
        r"#ifndef ARMCI_ABI_MPI\s+typedef struct \{(.*?)\} armci_giov_t;", text, re.S
    )[1]
    assert re.findall(r"(\w+);", fields) == [
        "src_ptr_array",
        "dst_ptr_array",
        "ptr_array_len",
        "bytes",
    ]
    assert re.search(r"typedef int armci_hdl_t;", text)
    assert re.search(r"typedef int ARMCI_Group;", text)


def copied(remote, local, limit):
    """Do what the calls say, byte by byte; returns how many there were."""
    calls = 0
    for r, r_strides, l, l_strides, counts, levels in slices.transfers(remote, local, limit):
        calls += 1
        assert max(*counts, *r_strides[:levels], *l_strides[:levels], 0) <= limit
        for place in itertools.product(*(range(n) for n in counts[1 : levels + 1])):
            source = r + sum(i * s for i, s in zip(place, r_strides))
            target = l + sum(i * s for i, s in zip(place, l_strides))
            ctypes.memmove(target, source, counts[0])
    return calls


def transfers():
    big = np.arange(4 * 5 * 6 * 2, dtype=np.int32).reshape(4, 5, 6, 2)
    for remote in (
        big,
        big[1:, ::2],
        big.transpose(2, 0, 1, 3),
        big[:, 2:3, 1:],
        big[0, 0, 0, 0:1],
        big[..., 1],
        big[:0],
    ):
        for local in (
            np.zeros(remote.shape, np.int32),
            np.zeros(remote.shape, np.int32, order="F"),
        ):
            for limit in (library.INT_MAX, 300, 50, 8):
                local[...] = -1
                calls = copied(remote, local, limit)
                assert np.array_equal(remote, local)
                assert calls == (remote.size > 0) or limit < 500
    turned = list(slices.transfers(big.T, np.zeros_like(big).T))
    assert len(turned) == 1 and list(turned[0][4]) == [big.nbytes], (
        "contiguous on both sides is one row"
    )
    deep = np.arange(2**12, dtype=np.int8).reshape((2,) * 12)
    # 12 levels, none of which can be merged.
    local = np.zeros((4,) * 12, np.int8)[(slice(None, None, 2),) * 12]
    assert copied(deep, local, library.INT_MAX) == 2**4
    assert np.array_equal(deep, local)


prototypes()
constants()
transfers()
print("ok prototypes")
