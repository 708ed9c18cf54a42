// SPDX-License-Identifier: BSD-3-Clause
// The one variable behind fast.h. It lives here since a fabric sets it, capi reads it, and neither knows the other.
#include "fast.h"

const struct fast_path *_Atomic fast_path;
