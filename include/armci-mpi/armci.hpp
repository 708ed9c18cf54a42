/* SPDX-License-Identifier: BSD-3-Clause */
/* armci.hpp, ARMCI-MPI layouts: selects them, then includes the one real header. Must not declare
 * anything itself. */
#include "armci.h"

#include "../armci.hpp"
