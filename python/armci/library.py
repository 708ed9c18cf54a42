# SPDX-License-Identifier: BSD-3-Clause
"""libarmci.so.0 with the prototypes of its headers, by ctypes. It must hold no rule of its own.

ctypes lets other Python threads run during each call. All pointers are plain addresses (c_void_p).
"""

from __future__ import annotations

import ctypes
import os

SONAME = "libarmci.so.0"

_int, _long, _double = ctypes.c_int, ctypes.c_long, ctypes.c_double
_ptr, _text = ctypes.c_void_p, ctypes.c_char_p

_contiguous = (_ptr, _ptr, _int, _int)
_strided = (_ptr, _ptr, _ptr, _ptr, _ptr, _int, _int)
_vector = (_ptr, _int, _int)

# Name: result, arguments; as in include/armci.h, message.h and armcix.h.
PROTOTYPES: dict[str, tuple] = {
    "ARMCI_Init": (_int,),
    "ARMCI_Initialized": (_int,),
    "ARMCI_Finalize": (_int,),
    "ARMCI_Error": (None, _text, _int),
    "ARMCI_Init_thread_comm": (_int, _int, _ptr),
    "armci_group_comm": (_ptr, _ptr),
    "ARMCI_Malloc_group": (_int, _ptr, _long, _ptr),
    "ARMCI_Free_group": (_int, _ptr, _ptr),
    "ARMCI_Put": (_int, *_contiguous),
    "ARMCI_Get": (_int, *_contiguous),
    "ARMCI_Acc": (_int, _int, _ptr, *_contiguous),
    "ARMCI_PutS": (_int, *_strided),
    "ARMCI_GetS": (_int, *_strided),
    "ARMCI_AccS": (_int, _int, _ptr, *_strided),
    "ARMCI_PutV": (_int, *_vector),
    "ARMCI_GetV": (_int, *_vector),
    "ARMCI_AccV": (_int, _int, _ptr, *_vector),
    "ARMCI_NbPutS": (_int, *_strided, _ptr),
    "ARMCI_NbGetS": (_int, *_strided, _ptr),
    "ARMCI_NbAccS": (_int, _int, _ptr, *_strided, _ptr),
    "ARMCI_Wait": (_int, _ptr),
    "ARMCI_Test": (_int, _ptr),
    "ARMCI_Fence": (None, _int),
    "ARMCI_AllFence": (None,),
    "ARMCI_GroupFence": (None, _ptr),
    "ARMCI_Barrier": (None,),
    "ARMCI_Group_create_child": (None, _int, _ptr, _ptr, _ptr),
    "ARMCI_Group_free": (None, _ptr),
    "ARMCI_Group_rank": (_int, _ptr, _ptr),
    "ARMCI_Group_size": (None, _ptr, _ptr),
    "ARMCI_Group_get_world": (None, _ptr),
    "ARMCI_Absolute_id": (_int, _ptr, _int),
    "ARMCI_Same_node": (_int, _int),
    "ARMCIX_Group_split": (_int, _ptr, _int, _int, _ptr),
    "ARMCIX_Create_mutexes_hdl": (_ptr, _int, _ptr),
    "ARMCIX_Destroy_mutexes_hdl": (_int, _ptr),
    "ARMCIX_Lock_hdl": (None, _ptr, _int, _int),
    "ARMCIX_Trylock_hdl": (_int, _ptr, _int, _int),
    "ARMCIX_Unlock_hdl": (None, _ptr, _int, _int),
    "ARMCIX_Atomic": (_int, _int, _int, _ptr, _ptr, _ptr, _ptr, _int),
    "armci_notify": (_int, _int),
    "armci_notify_wait": (_int, _int, _ptr),
    "armci_msg_me": (_int,),
    "armci_msg_nproc": (_int,),
    "armci_msg_snd": (None, _int, _ptr, _int, _int),
    "armci_msg_rcv": (None, _int, _ptr, _int, _ptr, _int),
    "armci_msg_group_barrier": (None, _ptr),
    "armci_msg_group_bcast_scope": (None, _int, _ptr, _int, _int, _ptr),
    "armci_msg_group_gop_scope": (None, _int, _ptr, _int, _text, _int, _ptr),
    "armci_timer": (_double,),
}

SCOPE_ALL = 333
ATOMIC_ADD, ATOMIC_AND, ATOMIC_OR, ATOMIC_XOR, ATOMIC_SWAP, ATOMIC_CAS = range(1, 7)
INT_MAX = 2**31 - 1
MAX_STRIDE_LEVELS = 8

# Element types, by the names of NumPy: of accumulates, and of reductions.
ACCUMULATE = {
    "int32": 37,
    "float64": 38,
    "float32": 39,
    "complex64": 40,
    "complex128": 41,
    "int64": 42,
}
REDUCE = {"int32": -99, "int64": -101, "float32": -306, "float64": -307}


class Vector(ctypes.Structure):
    """armci_giov_t: `count` segments of `nbytes` bytes each, from sources[i] to destinations[i]."""

    _fields_ = [("sources", _ptr), ("destinations", _ptr), ("count", _int), ("nbytes", _int)]


def _candidates() -> list[str]:
    """Where the library may be: where the installation put it beside this package, else where the
    system looks.
    """
    try:
        from ._where import LIBRARY  # written by the installation, relative to this directory
    except ImportError:
        return [SONAME]
    return [os.path.normpath(os.path.join(os.path.dirname(__file__), LIBRARY)), SONAME]


def load() -> ctypes.CDLL:
    """The library with its prototypes. ImportError if it cannot be loaded."""
    reasons = []
    for name in _candidates():
        try:
            library = ctypes.CDLL(name)
            break
        except OSError as error:
            reasons.append(str(error))
    else:
        raise ImportError(
            f"armci: {'; '.join(reasons)}. Add its directory to LD_LIBRARY_PATH, "
            "or install it and run ldconfig"
        )
    for name, (result, *arguments) in PROTOTYPES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(
                f"armci: {library._name} has no {name}: it is another ARMCI, or an older one"
            ) from None
        function.restype = result
        function.argtypes = arguments
    return library


lib = load()
