/* SPDX-License-Identifier: BSD-3-Clause */
/* parmci.h, ARMCI-MPI layouts: selects them, then includes the one real header. Must not declare
 * anything itself. */
#if defined(ARMCI_H_) && !defined(ARMCI_ABI_MPI)
#error "the classic armci.h was included before this one: use only one include directory"
#endif
#ifndef ARMCI_ABI_MPI
#define ARMCI_ABI_MPI 1
#endif
#include "../parmci.h"
