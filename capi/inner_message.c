// SPDX-License-Identifier: BSD-3-Clause
// The inner copy of message.c, for calls that are profiled: see profile_calls.h.
#include "inner.h"

#include "message.c"
